import { build, type Histogram } from 'hdr-histogram-js';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ResponseCounter } from './response-counter.js';
import { poisson, seeded } from './stats.js';

export interface LoadOrder {
  readonly port: number;
  /** Whole requests as text, sent in turn. */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Requests per second of the open loop; undefined: a closed loop, each connection asks again once it is answered. */
  readonly rate: number | undefined;
  readonly seed: number;
  /** How long stragglers are waited for once the time is over; 5000 by default. */
  readonly drainMs?: number;
}

/** What came of it. Latencies in ms, from the intended time of sending. */
export interface LoadReport {
  /** Closed loop: answered while the time ran. Open loop: all that were due and answered, however late. */
  readonly requests: number;
  readonly seconds: number;
  /** Of every answer, those after the time too. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** How late the open loop itself was with what was due, at its 99th percentile; 0 in a closed loop. It is part of the latencies. */
  readonly lateP99Ms: number;
  /** Requests that were due and had no answer when the drain ended. No latency knows of them, so such a run is void. */
  readonly unanswered: number;
}

/** The open loop sends what is due once in this time: arrivals fall on this grid by design, for every variant alike. */
const STEP_MS = 1;
const DRAIN_MS = 5000;

/** Of microseconds. */
function histogram(): Histogram {
  return build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: 3 });
}

function record(histogram: Histogram, ms: number): void {
  histogram.recordValue(Math.max(1, Math.round(ms * 1000)));
}

/** One load on one server of this machine, over raw sockets that are kept. */
export class Load {
  private readonly latencies = histogram();
  private readonly lateness = histogram();
  private readonly statuses: Record<number, number> = {};
  private readonly sockets: Socket[] = [];
  private readonly idle: Socket[] = [];
  private readonly sentAtMs = new Map<Socket, number>();
  /** Intended times of requests that wait for a connection. */
  private readonly due: number[] = [];
  private readonly bodies: readonly Buffer[];
  private next = 0;
  private done = 0;
  private endsAtMs = Infinity;
  private over = false;
  private fail: (error: Error) => void = () => undefined;

  constructor(private readonly order: LoadOrder) {
    this.bodies = order.requests.map((text) => Buffer.from(text));
  }

  /** @throws Error where a connection is lost, or an answer's end cannot be told */
  async run(): Promise<LoadReport> {
    const failed = new Promise<never>((_, reject) => (this.fail = reject));
    try {
      return await Promise.race([this.measure(), failed]);
    } finally {
      this.over = true;
      for (const socket of this.sockets) socket.destroy();
    }
  }

  private async measure(): Promise<LoadReport> {
    const { seconds, rate, connections, drainMs = DRAIN_MS } = this.order;
    const sockets = await Promise.all(Array.from({ length: connections }, () => this.open()));
    const startedAtMs = performance.now();
    this.endsAtMs = startedAtMs + seconds * 1000;
    if (rate === undefined) for (const socket of sockets) this.send(socket, performance.now());
    else await this.openLoop(rate, startedAtMs, sockets);
    await sleep(Math.max(0, this.endsAtMs - performance.now()));
    while (this.unanswered > 0 && performance.now() < this.endsAtMs + drainMs) await sleep(5);
    const millis = (percentile: number): number => this.latencies.getValueAtPercentile(percentile) / 1000;
    return {
      requests: this.done,
      seconds,
      statuses: this.statuses,
      p50Ms: millis(50),
      p99Ms: millis(99),
      p999Ms: millis(99.9),
      maxMs: millis(100),
      lateP99Ms: this.lateness.getValueAtPercentile(99) / 1000,
      unanswered: this.unanswered,
    };
  }

  private get unanswered(): number {
    return this.due.length + this.sentAtMs.size;
  }

  /** Requests become due by a Poisson process; one that finds no free connection waits, and its wait counts. */
  private async openLoop(rate: number, startedAtMs: number, sockets: readonly Socket[]): Promise<void> {
    this.idle.push(...sockets);
    const random = seeded(this.order.seed);
    // Steps are counted, not added up: rounding must not give one seed two schedules.
    const steps = Math.round((this.order.seconds * 1000) / STEP_MS);
    for (let step = 0; step < steps && !this.over; step += 1) {
      const atMs = startedAtMs + step * STEP_MS;
      const waitMs = atMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      record(this.lateness, performance.now() - atMs);
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
      this.sockets.push(socket);
      socket.on('error', reject);
      socket.on('close', () => {
        this.fail(new Error('the server closed a connection under load'));
      });
      socket.on('data', (chunk) => {
        try {
          for (const status of counter.push(chunk)) this.answered(socket, status);
        } catch (error) {
          this.fail(error as Error);
        }
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
    const intendedAtMs = this.sentAtMs.get(socket);
    if (intendedAtMs === undefined) throw new Error(`an answer (${status}) that nobody asked for`);
    this.sentAtMs.delete(socket);
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (this.order.rate !== undefined || nowMs <= this.endsAtMs) {
      this.done += 1;
      record(this.latencies, nowMs - intendedAtMs);
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
