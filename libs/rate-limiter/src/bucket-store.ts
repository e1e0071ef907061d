import type { BucketLimit } from './algorithms/index.js';
import type { VerdictKind } from './algorithms/algorithm.js';

/** One limit to be asked for one request. */
export interface Check {
  /** Names the bucket. */
  readonly key: string;
  readonly limit: BucketLimit;
  /** Whole units; 0 looks without spending and writes nothing, below 0 gives back what was spent, up to the limit. */
  readonly cost: number;
  /** Evaluated and reported, charged if it and all enforced checks admit, never refusing. */
  readonly shadow: boolean;
}

/**
 * One check's answer. A check that admits in a call that was refused by another has spent nothing. `unknown`: the call was refused by others, and
 * the node that holds this bucket did not answer.
 */
export interface CheckVerdict {
  readonly verdict: VerdictKind | 'unknown';
  /** Whole units left, after the charge if there was one. */
  readonly remaining: number;
  /** Until the same request would be admitted if nobody else asked; undefined unless refused. Never early. */
  readonly retryAfterMs: number | undefined;
  /** Until everything is available again. */
  readonly resetAfterMs: number;
}

export interface AdmitReply {
  readonly admitted: boolean;
  /** In the order of the checks. */
  readonly verdicts: readonly CheckVerdict[];
  /** How many buckets were found damaged or of a foreign type, and started afresh. */
  readonly healed: number;
}

/**
 * The port to bucket state. `admit` evaluates all checks at one instant and spends all or none: "check, then spend" cannot
 * be expressed. (Buckets on several nodes of a Cluster: at one instant each, and what was spent is given back.) Stores throw (or reject with) a `StoreFault` and nothing else; after a fault nothing is taken later.
 */
export interface BucketStore {
  admit(checks: readonly Check[]): AdmitReply | Promise<AdmitReply>;
  /** Forgets the buckets: the next request finds them full. Resolves to how many existed. */
  reset(keys: readonly string[]): Promise<number>;
}
