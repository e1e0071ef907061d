import type { Evaluation } from './algorithms/algorithm.js';
import { algorithmOf } from './algorithms/index.js';
import type { AdmitReply, BucketStore, Check } from './bucket-store.js';
import { toCheckVerdict } from './check-verdict.js';

interface Entry {
  readonly kind: string;
  readonly state: unknown;
  readonly expiresAtUs: number;
}

/** Server time in whole microseconds; must not step back by itself. */
export type ClockUs = () => number;

const startedAtUs = Math.floor(performance.timeOrigin * 1000);
/** Monotonic, so that a corrected wall clock neither drains nor fills a bucket. */
export const monotonicClockUs: ClockUs = () => startedAtUs + Math.floor(performance.now() * 1000);

/** A full bucket is kept this much longer, as in Redis: a clock that steps back by so much finds it again. */
const KEPT_FULL_US = 1_000_000;

/** How many old entries each call looks at: more than one a call, so that the sweep outruns growth. */
const SWEPT_PER_CALL = 2;

/**
 * Buckets of one process. The same decisions as the Redis store by the same algorithms; synchronous. Memory follows active
 * callers: an entry goes once its bucket would be full, found by a sweep that rides on calls, so there is no timer.
 */
export class MemoryBucketStore implements BucketStore {
  private readonly entries = new Map<string, Entry>();
  private sweep: Iterator<[string, Entry]> = this.entries.entries();

  constructor(private readonly nowUs: ClockUs = monotonicClockUs) {}

  get size(): number {
    return this.entries.size;
  }

  /** What is held for a key, for inspection; undefined where its bucket is full. */
  stored(key: string): unknown {
    return this.entries.get(key)?.state;
  }

  admit(checks: readonly Check[]): AdmitReply {
    const nowUs = this.nowUs();
    const evaluations = checks.map((check) => algorithmOf(check.limit).evaluate(this.read(check), check.limit, check.cost, nowUs));
    const admitted = checks.every((check, i) => check.shadow || evaluations[i]?.verdict === 'admitted');
    const verdicts = checks.map((check, i) => this.settle(check, evaluations[i] as Evaluation<unknown>, admitted, nowUs));
    this.sweepSome(nowUs);
    return { admitted, verdicts, healed: 0 };
  }

  reset(keys: readonly string[]): Promise<number> {
    return Promise.resolve(keys.filter((key) => this.entries.delete(key)).length);
  }

  private read(check: Check): unknown {
    const entry = this.entries.get(check.key);
    return entry?.kind === check.limit.kind ? entry.state : undefined;
  }

  private settle(check: Check, evaluation: Evaluation<unknown>, admitted: boolean, nowUs: number) {
    const charged = admitted && check.cost !== 0 ? evaluation.charged : undefined;
    const state = charged ?? evaluation.state;
    const outlook = algorithmOf(check.limit).outlook(state, check.limit, nowUs);
    if (charged !== undefined || evaluation.restated) {
      this.entries.set(check.key, { kind: check.limit.kind, state, expiresAtUs: nowUs + outlook.resetUs + KEPT_FULL_US });
    }
    return toCheckVerdict(evaluation.verdict, outlook.remaining, evaluation.waitUs, outlook.resetUs);
  }

  private sweepSome(nowUs: number): void {
    for (let i = 0; i < SWEPT_PER_CALL; i += 1) {
      const next = this.sweep.next();
      if (next.done === true) {
        this.sweep = this.entries.entries();
        return;
      }
      const [key, entry] = next.value;
      if (entry.expiresAtUs <= nowUs) this.entries.delete(key);
    }
  }
}
