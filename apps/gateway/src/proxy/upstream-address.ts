import { connect } from 'node:net';
import { Pool, type Dispatcher } from 'undici';
import { AddressHealth } from './address-health.js';
import type { UpstreamFault } from './upstream-faults.js';

const FIRST_PROBE_MS = 100;
const LAST_PROBE_MS = 2000;

export type AddressRequest = Required<Pick<Dispatcher.DispatchOptions, 'path' | 'method' | 'headers' | 'body' | 'upgrade'>>;

export interface AddressOptions {
  readonly url: string;
  readonly pool: Pool.Options;
  readonly connectMs: number;
  /** Requests that may be on their way at once, those that wait for a socket included. */
  readonly capacity: number;
  /** Whether another address of the upstream is healthy. */
  readonly hasSpare: () => boolean;
  readonly onHealth: (healthy: boolean) => void;
}

/** One address of an upstream: its kept connections, and whether it is worth trying. */
export class UpstreamAddress {
  private readonly pool: Pool;
  private readonly name: string;
  private readonly health = new AddressHealth();
  private underway = 0;
  private probing: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly options: AddressOptions) {
    this.pool = new Pool(options.url, options.pool);
    this.name = new URL(options.url).hostname;
  }

  get url(): string {
    return this.options.url;
  }

  get healthy(): boolean {
    return this.health.healthy;
  }

  get full(): boolean {
    return this.underway >= this.options.capacity;
  }

  /** Sends a request; `came` and `released` must each be called once. */
  dispatch({ path, method, headers, body, upgrade }: AddressRequest, handler: Dispatcher.DispatchHandler): void {
    this.underway += 1;
    // A fixed name: undici would take the caller's Host for the name to verify, and drop its kept connections whenever that changes.
    const request = { path, method, headers, body, upgrade, servername: this.name };
    this.pool.dispatch(request, handler);
  }

  /** The pool has done with a request. */
  released(): void {
    this.underway -= 1;
  }

  /** What a request came to: `nothing` where its end was not the upstream's doing. */
  came(came: UpstreamFault | 'answered' | 'nothing'): void {
    if (came === 'answered') this.health.answered();
    if (came === 'answered' || came === 'nothing') return;
    const probeAfterMs = this.health.failed(came, this.options.hasSpare());
    if (probeAfterMs === undefined) return;
    this.options.onHealth(false);
    this.probeAfter(probeAfterMs, FIRST_PROBE_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.probing);
    await this.pool.close();
  }

  private probeAfter(ms: number, nextMs: number): void {
    if (this.closed) return;
    this.probing = setTimeout(() => {
      this.probe(nextMs);
    }, ms).unref();
  }

  /** Tries to connect until it works: callers' requests are no probes. */
  private probe(nextMs: number): void {
    const { protocol, hostname, port } = new URL(this.options.url);
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    socket.setTimeout(this.options.connectMs, () => socket.destroy(new Error('no connection in time')));
    socket.once('connect', () => {
      socket.destroy();
      this.health.connected();
      if (!this.closed) this.options.onHealth(true);
    });
    socket.once('error', () => {
      this.probeAfter(nextMs, Math.min(LAST_PROBE_MS, nextMs * 2));
    });
  }
}
