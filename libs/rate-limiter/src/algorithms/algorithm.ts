export type VerdictKind = 'admitted' | 'refused' | 'cost-exceeds-limit';

/**
 * What one limit says about one request, as plain numbers. `state` is the state as of now, `charged` the state if the
 * request is charged; both twins (TypeScript, Lua) agree on every field.
 */
export interface Evaluation<State> {
  readonly verdict: VerdictKind;
  /** Microseconds until a refused request would be admitted if nobody else asked; 0 otherwise. */
  readonly waitUs: number;
  readonly state: State;
  readonly charged: State | undefined;
  /**
   * `state` is to be written even if nothing is charged, although it gives and takes nothing: the stored time lay ahead of the
   * clock, or the limit was edited and the time until now is settled at its old terms.
   */
  readonly restated: boolean;
}

/** A state in a caller's words. */
export interface Outlook {
  /** Whole units left. */
  readonly remaining: number;
  /** Microseconds until everything is available again; the state need not be kept longer. */
  readonly resetUs: number;
}

/**
 * One kind of limit, pure: no clock, no I/O. Its Lua twin reads `kind`, then `a`, `b`, `c` of `encode`.
 */
export interface Algorithm<Limit, State> {
  readonly code: string;
  encode(limit: Limit): readonly [a: number, b: number, c: number];
  /** `nowUs`: server time in µs; `cost`: whole units; 0 only looks, below 0 gives back, up to the limit. */
  evaluate(state: State | undefined, limit: Limit, cost: number, nowUs: number): Evaluation<State>;
  outlook(state: State, limit: Limit, nowUs: number): Outlook;
}
