/** How much of a second one slice of a paced stream is: small enough to be even, large enough for timers of 1 ms. */
const SLICES_PER_SECOND = 100;
/** Timers come late; up to this much is made up for. */
const LATENESS_MS = 20;

/** One direction of the network, shared by all connections. Times are those of `performance.now()`. */
export class Wire {
  private bytesPerSecond: number | undefined;
  private freeAtMs = 0;

  /** From now on; undefined: no bound. */
  pace(bytesPerSecond: number | undefined): void {
    this.bytesPerSecond = bytesPerSecond;
    this.freeAtMs = 0;
  }

  /** When the next bytes may go. */
  freeFrom(): number {
    return this.freeAtMs;
  }

  /** Occupies the wire for as many of the bytes as may go at once; returns how many. */
  occupy(nowMs: number, bytes: number): number {
    if (this.bytesPerSecond === undefined) return bytes;
    const slice = Math.min(bytes, Math.ceil(this.bytesPerSecond / SLICES_PER_SECOND));
    this.freeAtMs = Math.max(this.freeAtMs, nowMs - LATENESS_MS) + (slice / this.bytesPerSecond) * 1000;
    return slice;
  }
}
