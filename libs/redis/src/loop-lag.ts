/** How much a call's deadline may grow by our own doing. */
const MAX_EXTENSION_MS = 100;
/** What was measured this long ago says nothing about now. */
const STALE_AFTER_MS = 100;
/** Of what was measured before, with each busy turn of the event loop. */
const DECAY = 0.8;

/**
 * How long our own work keeps us from reading replies, measured where it matters: from a call to the end of the event-loop turn in
 * which it was made. A reply cannot be read before that turn and the next one are over, however fast the server is; that time is no
 * fault of the store, so deadlines grow by it. On an idle loop it is next to nothing.
 */
export class LoopLag {
  private lagMs = 0;
  private turnStartedAtMs: number | undefined;
  private measuredAtMs = -Infinity;

  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly atEndOfTurn: (run: () => void) => void = (run) => void setImmediate(run),
  ) {}

  /** To be called with each call that is made. */
  note(): void {
    if (this.turnStartedAtMs !== undefined) return;
    this.turnStartedAtMs = this.nowMs();
    this.atEndOfTurn(() => {
      this.measure();
    });
  }

  /** What a deadline set now may grow by: the rest of this turn, and the next one. */
  get extensionMs(): number {
    const nowMs = this.nowMs();
    const soFarMs = this.turnStartedAtMs === undefined ? 0 : nowMs - this.turnStartedAtMs;
    const knownMs = nowMs - this.measuredAtMs > STALE_AFTER_MS ? 0 : this.lagMs;
    return Math.min(2 * Math.max(soFarMs, knownMs), MAX_EXTENSION_MS);
  }

  private measure(): void {
    const nowMs = this.nowMs();
    const tookMs = nowMs - (this.turnStartedAtMs ?? nowMs);
    this.turnStartedAtMs = undefined;
    const before = nowMs - this.measuredAtMs > STALE_AFTER_MS ? 0 : this.lagMs * DECAY;
    this.lagMs = Math.max(tookMs, before);
    this.measuredAtMs = nowMs;
  }
}
