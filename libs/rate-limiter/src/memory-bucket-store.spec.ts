import { describe, expect, it } from '@jest/globals';
import { MemoryBucketStore } from '#libs/rate-limiter';
import { bucketStoreContract, tb } from '../test/bucket-store.contract.js';

bucketStoreContract('memory', () => {
  let nowUs = 0;
  const store = new MemoryBucketStore(() => nowUs);
  return Promise.resolve({
    store,
    setTimeUs: (us) => {
      nowUs = us;
      return Promise.resolve();
    },
    storedTokens: (key) => Promise.resolve((store.stored(key) as { tokens: number } | undefined)?.tokens),
    close: () => Promise.resolve(),
  });
});

describe('MemoryBucketStore', () => {
  it('NUM-01: a wall clock that steps back, or leaps an hour, neither drains nor overfills', () => {
    let nowUs = 1e15;
    const store = new MemoryBucketStore(() => nowUs);
    const ask = (): boolean => store.admit([{ key: 'k', limit: tb(10, 1), cost: 1, shadow: false }]).admitted;
    for (let i = 0; i < 3; i += 1) expect(ask()).toBe(true);
    nowUs -= 11e6;
    for (let i = 0; i < 5; i += 1) {
      expect(ask()).toBe(true);
      nowUs += 1e6;
    }
    nowUs += 3600e6;
    const burst = Array.from({ length: 20 }, ask).filter(Boolean);
    expect(burst).toHaveLength(10);
  });

  it('keeps memory in step with active callers: full buckets are forgotten', () => {
    let nowUs = 1e15;
    const store = new MemoryBucketStore(() => nowUs);
    for (let i = 0; i < 20_000; i += 1) {
      store.admit([{ key: `caller ${i}`, limit: tb(10, 10), cost: 1, shadow: false }]);
      nowUs += 1000;
    }
    // A bucket is full again after 100 ms and kept a second more: some 1100 callers are active at a time.
    expect(store.size).toBeLessThan(2500);
  });
});
