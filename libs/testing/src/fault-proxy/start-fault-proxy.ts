import { Connection, type Network } from './connection.js';
import { Listener } from './listener.js';
import { Wire } from './wire.js';

/** The server behind the proxy. */
export interface ProxyTarget {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  readonly port: number;
}

/** A network that can be made bad. The faults add up, until `heal`. */
export interface FaultProxy {
  /** Of 127.0.0.1; below the range from which systems give out ports. */
  readonly port: number;
  /** Connections whose client has not left. */
  readonly connections: number;
  /** Every byte of a reply that arrives from now on leaves `ms` later, and a chance 0 … `jitterMs` on top; the order is kept. */
  delay(ms: number, jitterMs?: number): void;
  /** For each direction, shared by all connections; undefined: no bound. */
  bandwidth(bytesPerSecond: number | undefined): void;
  /** Holds what arrives from either side. Connections stay and are accepted, and nothing is lost. */
  freeze(): void;
  thaw(): void;
  /** RST to both sides of every connection, at once. */
  resetAll(): void;
  /** `resetAll` every so many ms. */
  resetEvery(ms: number): void;
  /** Connections stay and are accepted, but what is under way and all that arrives is lost, the end of a connection too. */
  halfOpen(): void;
  /** Stops listening, and `resetAll`. */
  refuse(): void;
  /**
   * Undoes every fault: what was held or late leaves now, connections that have lost something are reset. Listens once resolved.
   * @throws Error when another process took the port while it refused, and kept it for 5 s
   */
  heal(): Promise<void>;
  /** Resets all connections and stops listening. Calling it again does nothing. */
  close(): Promise<void>;
}

/** Starts a TCP proxy in this process, without faults. It does not keep the process alive. */
export async function startFaultProxy(target: ProxyTarget): Promise<FaultProxy> {
  const proxy = new InProcessProxy(target);
  await proxy.open();
  return proxy;
}

class InProcessProxy implements FaultProxy {
  private readonly rules = { frozen: false, losing: false };
  private readonly requests = new Wire();
  private readonly replies = new Wire();
  private readonly live = new Set<Connection>();
  private readonly listener: Listener;
  private late = { ms: 0, jitterMs: 0 };
  private resets: NodeJS.Timeout | undefined;
  private closed = false;

  constructor({ host = '127.0.0.1', port }: ProxyTarget) {
    const { rules, requests, replies } = this;
    const replyDelayMs = () => this.late.ms + Math.random() * this.late.jitterMs;
    const network: Network = { target: { host, port }, rules, requests, replies, replyDelayMs };
    this.listener = new Listener((client) => {
      const connection: Connection = new Connection(client, network, () => this.live.delete(connection));
      this.live.add(connection);
    });
  }

  open(): Promise<void> {
    return this.listener.open();
  }

  get port(): number {
    return this.listener.port;
  }

  get connections(): number {
    return [...this.live].filter((connection) => connection.isOpen).length;
  }

  delay(ms: number, jitterMs = 0): void {
    this.late = { ms, jitterMs };
  }

  bandwidth(bytesPerSecond: number | undefined): void {
    this.requests.pace(bytesPerSecond);
    this.replies.pace(bytesPerSecond);
    this.moveAll();
  }

  freeze(): void {
    this.rules.frozen = true;
  }

  thaw(): void {
    this.rules.frozen = false;
    this.moveAll();
  }

  resetAll(): void {
    for (const connection of this.live) connection.reset();
  }

  resetEvery(ms: number): void {
    clearInterval(this.resets);
    this.resets = setInterval(() => {
      this.resetAll();
    }, ms).unref();
  }

  halfOpen(): void {
    this.rules.losing = true;
    for (const connection of this.live) connection.lose();
  }

  refuse(): void {
    void this.listener.shut();
    this.resetAll();
  }

  async heal(): Promise<void> {
    clearInterval(this.resets);
    this.delay(0);
    this.rules.frozen = this.rules.losing = false;
    for (const connection of this.live) {
      if (connection.hasLost) connection.reset();
      else connection.hurry();
    }
    this.bandwidth(undefined);
    if (!this.closed) await this.listener.reopen();
  }

  close(): Promise<void> {
    this.closed = true;
    clearInterval(this.resets);
    const shut = this.listener.shut();
    this.resetAll();
    return shut;
  }

  private moveAll(): void {
    for (const connection of this.live) connection.move();
  }
}
