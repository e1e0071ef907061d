import { createServer, type Server, type Socket } from 'node:net';
import { waitFor } from '../wait-for.js';

/**
 * Systems give out ports above this range by themselves. A port in it stays free while nobody listens on it, but for another proxy
 * that happens to draw the same.
 */
const FIRST_PORT = 20_000;
const PORTS = 12_000;

/** Listens on one loopback port, with pauses. */
export class Listener {
  port = 0;
  private server: Server | undefined;
  private opening: Promise<void> | undefined;
  private wanted = true;

  constructor(private readonly onConnection: (socket: Socket) => void) {}

  /** Takes a port by chance. @throws Error after 5 s without a free one */
  async open(): Promise<void> {
    this.server = await waitFor(
      () => {
        this.port = FIRST_PORT + Math.floor(Math.random() * PORTS);
        return this.listen();
      },
      { what: 'a port is free' },
    );
  }

  /** Listens again on the same port; does nothing while it listens. @throws Error when another process keeps the port for 5 s */
  reopen(): Promise<void> {
    this.wanted = true;
    this.opening ??= this.openSame().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /** New connections are refused from now on; resolves when those it accepted are gone. */
  shut(): Promise<void> {
    this.wanted = false;
    const { server } = this;
    this.server = undefined;
    return new Promise((resolve) => {
      if (server === undefined) resolve();
      else {
        server.close(() => {
          resolve();
        });
      }
    });
  }

  private async openSame(): Promise<void> {
    if (this.server !== undefined) return;
    const tried = async () => ({ server: this.wanted ? await this.listen() : undefined });
    const { server } = await waitFor(tried, { what: `port ${this.port} is free` });
    if (this.wanted) this.server = server;
    else server?.close();
  }

  private listen(): Promise<Server> {
    return new Promise((resolve, reject) => {
      const server = createServer({ noDelay: true, allowHalfOpen: true }, this.onConnection);
      server.once('error', reject).listen(this.port, '127.0.0.1', () => {
        resolve(server.unref());
      });
    });
  }
}
