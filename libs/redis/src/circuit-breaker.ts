/** `closed`: calls go. `open`: none do. `closing`: a growing share does. */
export type BreakerState = 'closed' | 'open' | 'closing';

/** Failures without one success in between, for so long, open it: a hiccup shorter than that costs a deadline, not a pause. */
const RUN_MS = 50;
const RUN_FAILURES = 5;
/** So does a window in which at least half of the calls failed. */
const WINDOW_MS = 1000;
const WINDOW_LEAST_MS = 200;
const WINDOW_CALLS = 20;
const FAILED_SHARE = 0.5;

/** Probes that must succeed in a row before calls go again; twice as many after each relapse. */
const GOOD_PROBES = 3;
const MOST_GOOD_PROBES = 24;
const FIRST_PROBE_MS = 50;
const LAST_PROBE_MS = 500;
/** Closed for so long, relapses are forgotten. */
const FORGET_MS = 10_000;

/** Shares of the calls that go while it closes, a step each. */
const SHARES = [0.1, 0.25, 0.5] as const;
const STEP_MS = 100;
/** While it closes, so many failures open it again. */
const CLOSING_FAILURES = 2;

export interface BreakerOptions {
  /** Told once per change. `why`: the failure that it opened for. */
  readonly onChange?: (state: BreakerState, why: string) => void;
  /** Monotonic. */
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

/**
 * Spares callers a store that does not answer: while it is open they need not wait for what will not come. Pure but for its clock and dice. Callers
 * are never the probes; whoever owns this asks by itself, and tells.
 */
export class CircuitBreaker {
  private now: BreakerState = 'closed';
  private lastFailure = '';
  private failuresInRow = 0;
  private runSinceMs = 0;
  private windowSinceMs = -Infinity;
  private windowCalls = 0;
  private windowFailures = 0;
  private goodProbes = 0;
  private badProbes = 0;
  private relapses = 0;
  private closingSinceMs = 0;
  private closedSinceMs = -Infinity;
  private readonly nowMs: () => number;
  private readonly random: () => number;

  constructor(private readonly options: BreakerOptions = {}) {
    this.nowMs = options.nowMs ?? (() => performance.now());
    this.random = options.random ?? Math.random;
  }

  get state(): BreakerState {
    return this.now;
  }

  /** What the last failure was. */
  get why(): string {
    return this.lastFailure;
  }

  /** Whether a call may go now. */
  allows(): boolean {
    if (this.now === 'closed') return true;
    if (this.now === 'open') return false;
    const step = Math.floor((this.nowMs() - this.closingSinceMs) / STEP_MS);
    const share = SHARES[step];
    if (share !== undefined) return this.random() < share;
    this.closedSinceMs = this.nowMs();
    this.change('closed');
    return true;
  }

  succeeded(): void {
    this.failuresInRow = 0;
    this.count(0);
  }

  failed(why: string): void {
    this.lastFailure = why;
    if (this.now === 'open') return;
    const nowMs = this.nowMs();
    if (this.failuresInRow === 0) this.runSinceMs = nowMs;
    this.failuresInRow += 1;
    this.count(1);
    const run = this.failuresInRow >= RUN_FAILURES && nowMs - this.runSinceMs >= RUN_MS;
    if (this.now === 'closing' ? this.windowFailures >= CLOSING_FAILURES : run || this.windowIsBad(nowMs)) this.open();
  }

  /** How long to wait before the next probe while it is open: longer the more have failed, with jitter. */
  get probeAfterMs(): number {
    const ms = Math.min(LAST_PROBE_MS, FIRST_PROBE_MS * 1.5 ** Math.min(this.badProbes, 20));
    return ms * (0.75 + this.random() / 2);
  }

  /** What a probe came to. */
  probed(good: boolean, why = ''): void {
    if (this.now !== 'open') return;
    if (!good) {
      this.lastFailure = why;
      this.goodProbes = 0;
      this.badProbes += 1;
      return;
    }
    this.badProbes = 0;
    this.goodProbes += 1;
    if (this.goodProbes < Math.min(GOOD_PROBES * 2 ** this.relapses, MOST_GOOD_PROBES)) return;
    this.startAfresh();
    this.closingSinceMs = this.nowMs();
    this.change('closing');
  }

  private windowIsBad(nowMs: number): boolean {
    const whole = this.windowCalls >= WINDOW_CALLS && nowMs - this.windowSinceMs >= WINDOW_LEAST_MS;
    return whole && this.windowFailures >= this.windowCalls * FAILED_SHARE;
  }

  private open(): void {
    const nowMs = this.nowMs();
    if (this.now === 'closing' || nowMs - this.closedSinceMs < FORGET_MS) this.relapses += 1;
    else this.relapses = 0;
    this.startAfresh();
    this.change('open');
  }

  private count(failures: 0 | 1): void {
    const nowMs = this.nowMs();
    if (nowMs - this.windowSinceMs > WINDOW_MS) {
      this.windowSinceMs = nowMs;
      this.windowCalls = 0;
      this.windowFailures = 0;
    }
    this.windowCalls += 1;
    this.windowFailures += failures;
  }

  private startAfresh(): void {
    this.failuresInRow = 0;
    this.goodProbes = 0;
    this.badProbes = 0;
    this.windowSinceMs = -Infinity;
  }

  private change(state: BreakerState): void {
    this.now = state;
    this.options.onChange?.(state, this.lastFailure);
  }
}
