import type { UpstreamFault } from './upstream-faults.js';

/** Connections that fail in a row, or break off unanswered in a row, before an address is taken out. One refusal is enough. */
const CONNECT_FAILURES = 3;
const BROKEN_OFF = 5;

/** Whether an address is worth trying, by what became of the calls to it; pure. */
export class AddressHealth {
  private failures = 0;
  private out = false;

  get healthy(): boolean {
    return !this.out;
  }

  /** It answered, or a probe connected. */
  succeeded(): void {
    this.failures = 0;
    this.out = false;
  }

  /** @returns whether this took the address out */
  failed({ error, unsent }: UpstreamFault): boolean {
    if (this.out || !(unsent || error === 'connection_terminated')) return false;
    this.failures += 1;
    const allowed = error === 'connection_refused' ? 1 : unsent ? CONNECT_FAILURES : BROKEN_OFF;
    this.out = this.failures >= allowed;
    return this.out;
  }
}
