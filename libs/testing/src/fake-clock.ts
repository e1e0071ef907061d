/**
 * A clock that moves only when told to. `nowUs` may be handed on without its object.
 * Starts at 1,700,000,000 s, so that a mix-up of units or of relative and absolute time shows.
 */
export class FakeClock {
  private us: number;

  constructor(startUs = 1_700_000_000_000_000) {
    this.us = startUs;
  }

  /** Whole microseconds. */
  readonly nowUs = (): number => this.us;

  /** Whole milliseconds, rounded down. */
  readonly nowMs = (): number => Math.floor(this.us / 1000);

  /** Rounded to whole microseconds; negative steps back. */
  advanceMs(ms: number): void {
    this.advanceUs(Math.round(ms * 1000));
  }

  /** @throws RangeError unless it is a whole number. */
  advanceUs(us: number): void {
    this.us += wholeUs(us);
  }

  /** @throws RangeError unless it is a whole number. */
  set(us: number): void {
    this.us = wholeUs(us);
  }
}

function wholeUs(us: number): number {
  if (!Number.isSafeInteger(us)) throw new RangeError(`not a whole number of microseconds: ${us}`);
  return us;
}
