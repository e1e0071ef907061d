import type { AppliedPolicy, Route, Subject } from '#libs/rules';
import type { VerdictKind } from '#libs/rate-limiter';

/** `allowed`; `limited` (429: the caller asked for too much); `shed` (503: we are short); `unavailable` (503: a closed route without its store). */
export type Outcome = 'allowed' | 'limited' | 'shed' | 'unavailable';

export type Reason =
  'quota' | 'concurrency' | 'cost-exceeds-limit' | 'fleet-capacity' | 'worker-utilisation' | 'upstream-concurrency' | 'store-unavailable';

/** Where the numbers of a decision came from. */
export type Source = 'store' | 'lease' | 'denied-cache' | 'local-fallback' | 'none';

/** What one policy said about one request. */
export interface PolicyVerdict {
  readonly applied: AppliedPolicy;
  readonly verdict: VerdictKind;
  readonly remaining: number;
  readonly retryAfterMs: number | undefined;
  readonly resetAfterMs: number;
}

/** The edge's final answer to one request, as plain values. */
export interface Decision {
  readonly outcome: Outcome;
  /** Undefined only where a request was allowed by its policies with the store's numbers. */
  readonly reason: Reason | undefined;
  readonly source: Source;
  /** Decided without the store by the route's failure mode. */
  readonly degraded: boolean;
  readonly route: Route;
  readonly subject: Subject;
  readonly cost: number;
  /** Of the limits that decided. */
  readonly revision: number;
  /** Every policy that applied and whose node answered, shadow ones too; empty where the store gave no answer and nothing stood in for it. */
  readonly policies: readonly PolicyVerdict[];
  /** When to come back; undefined where waiting does not help (or nothing was refused). */
  readonly retryAfterMs: number | undefined;
}
