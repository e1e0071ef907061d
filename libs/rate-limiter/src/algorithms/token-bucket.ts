import type { Algorithm, Evaluation } from './algorithm.js';
import { MICRO, ceilQuotient, quotient } from './integers.js';

/** A bucket of `capacity` tokens into which `refillTokens` flow every `refillSeconds` (an integer pair, so 1/3600 is exact). */
export interface TokenBucketLimit {
  readonly kind: 'tokenBucket';
  readonly capacity: number;
  readonly refillTokens: number;
  readonly refillSeconds: number;
}

/** Integers below 2^53: `tokens` in micro-tokens as of `ts` (µs); `remainder` in 1/refillSeconds of a micro-token. */
export interface TokenBucketState {
  readonly tokens: number;
  readonly ts: number;
  readonly remainder: number;
  readonly refillTokens: number;
  readonly refillSeconds: number;
}

/** A step back of time up to this long is held; a stored time further ahead is cut to now. */
const MAX_HELD_STEP_BACK_US = 1_000_000;

/** Microseconds until `missing` micro-tokens have flowed in: `refillTokens` tokens a `refillSeconds` is as many µ-tokens per µs. */
function flowTime(missing: number, remainder: number, refillTokens: number, refillSeconds: number): number {
  if (missing <= 0) return 0;
  const rest = missing % refillTokens;
  return quotient(missing, refillTokens) * refillSeconds + ceilQuotient(rest * refillSeconds - remainder, refillTokens);
}

function timeToRefill(state: TokenBucketState, missing: number, nowUs: number): number {
  if (missing <= 0) return 0;
  return flowTime(missing, state.remainder, state.refillTokens, state.refillSeconds) + state.ts - nowUs;
}

/** What flowed in since `ts`, priced at the rate of that time, however short the step: the remainder is kept. */
function refill(state: TokenBucketState, limit: TokenBucketLimit, nowUs: number): TokenBucketState {
  const capacity = limit.capacity * MICRO;
  const elapsed = nowUs - state.ts;
  let tokens = Math.min(state.tokens, capacity);
  let { ts, remainder } = state;
  if (elapsed < -MAX_HELD_STEP_BACK_US) ts = nowUs;
  if (elapsed > 0) {
    const { refillTokens, refillSeconds } = state;
    if (elapsed >= flowTime(capacity - tokens, remainder, refillTokens, refillSeconds)) {
      tokens = capacity;
      remainder = 0;
    } else {
      const part = (elapsed % refillSeconds) * refillTokens + remainder;
      tokens += quotient(elapsed, refillSeconds) * refillTokens + quotient(part, refillSeconds);
      remainder = part % refillSeconds;
    }
    ts = nowUs;
  }
  const { refillTokens, refillSeconds } = limit;
  // The remainder counts in parts of its rate: another rate starts without one.
  return { tokens, ts, remainder: sameRate(state, limit) ? remainder : 0, refillTokens, refillSeconds };
}

function sameRate(state: TokenBucketState, limit: TokenBucketLimit): boolean {
  return state.refillTokens === limit.refillTokens && state.refillSeconds === limit.refillSeconds;
}

function evaluate(
  stored: TokenBucketState | undefined,
  limit: TokenBucketLimit,
  cost: number,
  nowUs: number,
): Evaluation<TokenBucketState> {
  const { refillTokens, refillSeconds } = limit;
  const state = stored
    ? refill(stored, limit, nowUs)
    : { tokens: limit.capacity * MICRO, ts: nowUs, remainder: 0, refillTokens, refillSeconds };
  const restated = stored !== undefined && (stored.ts - nowUs > MAX_HELD_STEP_BACK_US || !sameRate(stored, limit));
  if (cost > limit.capacity) return { verdict: 'cost-exceeds-limit', waitUs: 0, state, charged: undefined, restated };
  const missing = cost * MICRO - state.tokens;
  if (missing > 0) {
    return { verdict: 'refused', waitUs: timeToRefill(state, missing, nowUs), state, charged: undefined, restated };
  }
  // What is given back to a bucket that nobody has charged is not missing there.
  const tokens = Math.min(limit.capacity * MICRO, state.tokens - cost * MICRO);
  const charged = cost < 0 && stored === undefined ? undefined : { ...state, tokens };
  return { verdict: 'admitted', waitUs: 0, state, charged, restated };
}

/** The classic bucket: a burst up to `capacity`, then the refill rate. Twin of `lua/includes/token-bucket.lua`. */
export const tokenBucket: Algorithm<TokenBucketLimit, TokenBucketState> = {
  code: 'tb',
  encode: (limit) => [limit.capacity, limit.refillTokens, limit.refillSeconds],
  evaluate,
  outlook: (state, limit, nowUs) => ({
    remaining: quotient(state.tokens, MICRO),
    resetUs: timeToRefill(state, limit.capacity * MICRO - state.tokens, nowUs),
  }),
};
