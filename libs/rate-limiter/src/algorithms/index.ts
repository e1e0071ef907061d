import type { Algorithm } from './algorithm.js';
import { tokenBucket, type TokenBucketLimit } from './token-bucket.js';

/** Every kind of limit that a bucket store can hold. A new kind joins this union, the table below and `lua/admit-n.lua`. */
export type BucketLimit = TokenBucketLimit;

const algorithms: { readonly [Kind in BucketLimit['kind']]: Algorithm<Extract<BucketLimit, { kind: Kind }>, unknown> } = {
  tokenBucket: tokenBucket,
};

export function algorithmOf<Limit extends BucketLimit>(limit: Limit): Algorithm<Limit, unknown> {
  return algorithms[limit.kind];
}
