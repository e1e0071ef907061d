import { parseRate } from './rate.js';

/** A bucket of `capacity` tokens; `refillTokens` flow in every `refillSeconds`, a reduced integer pair. */
export interface TokenBucketLimit {
  readonly kind: 'tokenBucket';
  readonly capacity: number;
  readonly refillTokens: number;
  readonly refillSeconds: number;
}

/** Said in so many words; never a default. */
export interface UnlimitedLimit {
  readonly kind: 'unlimited';
}

/** A limit as users write it, in documents and decorators: exactly one kind. */
export interface LimitOptions {
  readonly tokenBucket?: { readonly capacity: number; readonly refillPerSecond: number | string };
  readonly unlimited?: true;
}

/** What a policy grants in one case. A new kind joins this union, `parsers` below and `LimitOptions`. */
export type Limit = TokenBucketLimit | UnlimitedLimit;

type Kind = Limit['kind'];
type Options<K extends Kind> = NonNullable<LimitOptions[K]>;

/** How each kind is read; its options are validated by their class before. */
const parsers: { readonly [K in Kind]: (options: Options<K>) => Extract<Limit, { kind: K }> } = {
  tokenBucket: ({ capacity, refillPerSecond }) => ({ kind: 'tokenBucket', capacity, ...parseRate(refillPerSecond) }),
  unlimited: () => ({ kind: 'unlimited' }),
};

export const KINDS = Object.keys(parsers) as readonly Kind[];

/** Kinds of the format that this version cannot hold yet. */
export const LATER_KINDS = ['gcra', 'fixedWindow', 'slidingWindow', 'slidingLog', 'leakyBucket', 'concurrency'] as const;

/** From validated options. */
export function toLimit(options: LimitOptions): Limit {
  const kind = KINDS.find((name) => options[name] !== undefined);
  if (kind === undefined) throw new Error(`a limit is one of ${KINDS.join(', ')}`);
  return (parsers[kind] as (given: unknown) => Limit)(options[kind]);
}

/** Seconds until an empty bucket is full; 0 where nothing is limited. */
export function secondsToFill(limit: Limit): number {
  return limit.kind === 'unlimited' ? 0 : (limit.capacity * limit.refillSeconds) / limit.refillTokens;
}
