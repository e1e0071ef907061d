import type { UpstreamFault } from './upstream-faults.js';

/** Failures in a row before an address is taken out. One refusal is enough. */
const CONNECT_FAILURES = 3;
const UNANSWERED = 5;
/** How long an address that accepted and did not answer stays out, before it is tried: twice as long each time it does so again at once. */
const FIRST_PENALTY_MS = 1000;
const LAST_PENALTY_MS = 30_000;

/** Whether an address is worth trying, by what became of the calls to it; pure. */
export class AddressHealth {
  private failures = 0;
  private out = false;
  private penalties = 0;
  /** Back after a penalty, and nothing answered yet. */
  private onTrial = false;

  get healthy(): boolean {
    return !this.out;
  }

  /** It answered. */
  answered(): void {
    this.failures = 0;
    this.out = false;
    this.penalties = 0;
    this.onTrial = false;
  }

  /** A probe connected: calls go to it again. */
  connected(): void {
    this.failures = 0;
    this.out = false;
    this.onTrial = this.penalties > 0;
  }

  /**
   * @param hasSpare whether another address is healthy: one that accepts connections is not taken out for its silence where nothing is left
   * @returns after how many ms it is to be probed, if this took the address out
   */
  failed({ error, unsent }: UpstreamFault, hasSpare: boolean): number | undefined {
    const silent = error === 'connection_terminated' || error === 'http_response_timeout';
    if (this.out || !(unsent || (silent && hasSpare))) return undefined;
    this.failures += 1;
    const allowed = error === 'connection_refused' || this.onTrial ? 1 : unsent ? CONNECT_FAILURES : UNANSWERED;
    if (this.failures < allowed) return undefined;
    this.out = true;
    if (unsent) return 0;
    this.penalties += 1;
    return Math.min(LAST_PENALTY_MS, FIRST_PENALTY_MS * 2 ** (this.penalties - 1));
  }
}
