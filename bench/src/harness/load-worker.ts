import { build, type Histogram } from 'hdr-histogram-js';
import { connect, type Socket } from 'node:net';
import { ResponseCounter } from './response-counter.js';
import { poisson, seeded } from './stats.js';

/** What a load process is told, as its first message. */
export interface LoadOrder {
  readonly port: number;
  /** Whole requests as text, sent in turn. */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Requests per second of the open loop; undefined: a closed loop, each connection asks again once it is answered. */
  readonly rate: number | undefined;
  readonly seed: number;
}

/** What it answers once the time is over. Latencies in ms, from the intended time of sending. */
export interface LoadReport {
  readonly requests: number;
  readonly seconds: number;
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Requests that were due but never sent or answered in time. */
  readonly unanswered: number;
}

/** The open loop sends what is due once in this time: arrivals fall on this grid by design, for every variant alike. */
const STEP_MS = 1;

class Load {
  private readonly histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  });
  private readonly statuses: Record<number, number> = {};
  private readonly idle: Socket[] = [];
  private readonly sentAtMs = new Map<Socket, number>();
  /** Intended times of requests that wait for a connection. */
  private readonly due: number[] = [];
  private readonly bodies: readonly Buffer[];
  private next = 0;
  private done = 0;
  private endsAtMs = Infinity;

  constructor(private readonly order: LoadOrder) {
    this.bodies = order.requests.map((text) => Buffer.from(text));
  }

  async run(): Promise<LoadReport> {
    const { seconds, rate, connections } = this.order;
    const sockets = await Promise.all(Array.from({ length: connections }, () => this.open()));
    const startedAtMs = performance.now();
    this.endsAtMs = startedAtMs + seconds * 1000;
    if (rate === undefined) for (const socket of sockets) this.send(socket, performance.now());
    else await this.openLoop(rate, startedAtMs, sockets);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, this.endsAtMs - performance.now()) + 200));
    for (const socket of sockets) socket.destroy();
    const micros = (percentile: number): number => this.histogram.getValueAtPercentile(percentile) / 1000;
    return {
      requests: this.done,
      seconds,
      statuses: this.statuses,
      p50Ms: micros(50),
      p99Ms: micros(99),
      maxMs: micros(100),
      unanswered: rate === undefined ? 0 : this.due.length + this.sentAtMs.size,
    };
  }

  /** Requests become due by a Poisson process; one that finds no free connection waits, and its wait counts. */
  private async openLoop(rate: number, startedAtMs: number, sockets: readonly Socket[]): Promise<void> {
    this.idle.push(...sockets);
    const random = seeded(this.order.seed);
    for (let atMs = startedAtMs; atMs < this.endsAtMs; atMs += STEP_MS) {
      const waitMs = atMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      for (let arrivals = poisson((rate * STEP_MS) / 1000, random); arrivals > 0; arrivals -= 1) {
        const socket = this.idle.pop();
        if (socket === undefined) this.due.push(atMs);
        else this.send(socket, atMs);
      }
    }
  }

  private open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const counter = new ResponseCounter();
      const socket = connect({ host: '127.0.0.1', port: this.order.port, noDelay: true }, () => {
        resolve(socket);
      });
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        for (const status of counter.push(chunk)) this.answered(socket, status);
      });
    });
  }

  private send(socket: Socket, intendedAtMs: number): void {
    this.sentAtMs.set(socket, intendedAtMs);
    socket.write(this.bodies[this.next] as Buffer);
    this.next = (this.next + 1) % this.bodies.length;
  }

  private answered(socket: Socket, status: number): void {
    const nowMs = performance.now();
    const intendedAtMs = this.sentAtMs.get(socket) ?? nowMs;
    this.sentAtMs.delete(socket);
    if (nowMs <= this.endsAtMs + 200) {
      if (nowMs <= this.endsAtMs || this.order.rate !== undefined) {
        this.done += 1;
        this.statuses[status] = (this.statuses[status] ?? 0) + 1;
        this.histogram.recordValue(Math.max(1, Math.round((nowMs - intendedAtMs) * 1000)));
      }
    }
    if (this.order.rate === undefined) {
      if (nowMs < this.endsAtMs) this.send(socket, nowMs);
      return;
    }
    const waiting = this.due.shift();
    if (waiting === undefined) this.idle.push(socket);
    else this.send(socket, waiting);
  }
}

process.once('message', (order: LoadOrder) => {
  void new Load(order).run().then((report) => {
    process.send?.(report);
    process.disconnect();
  });
});
