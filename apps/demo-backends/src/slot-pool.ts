/** One job's place in a pool; all times are in ms of the caller's clock. */
export interface SlotBooking {
  /** 0 to slots − 1. */
  readonly slot: number;
  /** How long it waits for the slot. */
  readonly queuedMs: number;
  readonly endsAtMs: number;
}

/**
 * A pool of equal slots with one queue, first come first served. A job's service time is known when it arrives, so its end is known
 * too: booking is arithmetic, waiting is the caller's. Jobs must be booked in the order of their arrival.
 */
export class SlotPool {
  /** When each slot becomes free. */
  private readonly freeAtMs: number[];

  /** @throws RangeError unless `slots` is a whole number above 0. */
  constructor(slots: number) {
    if (!Number.isInteger(slots) || slots < 1) throw new RangeError(`a pool needs at least one slot, got ${slots}`);
    this.freeAtMs = Array.from({ length: slots }, () => 0);
  }

  /** Gives the job the slot that is free first; the lowest of several. */
  book(nowMs: number, serviceMs: number): SlotBooking {
    const earliestMs = Math.min(...this.freeAtMs);
    const slot = this.freeAtMs.indexOf(earliestMs);
    const startsAtMs = Math.max(nowMs, earliestMs);
    const endsAtMs = startsAtMs + serviceMs;
    this.freeAtMs[slot] = endsAtMs;
    return { slot, queuedMs: startsAtMs - nowMs, endsAtMs };
  }

  /** How many slots are at work. */
  busy(nowMs: number): number {
    return this.freeAtMs.filter((freeAtMs) => freeAtMs > nowMs).length;
  }
}
