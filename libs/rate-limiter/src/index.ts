/** How often may it ask? Kinds of limits as pure functions, and the stores (memory, Redis) that hold their state. */
export { algorithmOf, type BucketLimit } from './algorithms/index.js';
export type { Algorithm, Evaluation, Outlook, VerdictKind } from './algorithms/algorithm.js';
export type { TokenBucketLimit, TokenBucketState } from './algorithms/token-bucket.js';
export type { AdmitReply, BucketStore, Check, CheckVerdict } from './bucket-store.js';
export { MemoryBucketStore, monotonicClockUs, type ClockUs } from './memory-bucket-store.js';
export { RedisBucketStore, bucketScripts } from './redis-bucket-store.js';
export { StoreFault, type StoreFaultKind } from '#libs/redis';
