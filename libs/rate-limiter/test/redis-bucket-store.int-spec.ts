import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { MemoryBucketStore, RedisBucketStore, bucketScripts, type Check, type TokenBucketLimit } from '#libs/rate-limiter';
import { connectRedis, type RedisClient } from '#libs/redis';
import { sharedRedisUrl, waitFor } from '#libs/testing';
import { bucketStoreContract, tb } from './bucket-store.contract.js';
import { redisUnderTest, type RedisUnderTest } from './redis-under-test.js';

bucketStoreContract('Redis', () => redisUnderTest(sharedRedisUrl()));

describe('the Lua script and its TypeScript twin', () => {
  let redis: RedisUnderTest;
  beforeAll(async () => {
    redis = await redisUnderTest(sharedRedisUrl());
  });
  afterAll(() => redis.close());

  const rates = fc.oneof(
    fc.tuple(fc.constantFrom(1, 5, 1000, 1_000_000), fc.constant(1)),
    fc.tuple(fc.constant(1), fc.constantFrom(3, 60, 3600, 2_592_000)),
    fc.tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 9999 })),
  );
  const limits: fc.Arbitrary<TokenBucketLimit> = fc
    .tuple(fc.constantFrom(0, 1, 2, 10, 1000, 5_000_000, 9_000_000_000), rates)
    .filter(([capacity, [tokens, seconds]]) => (capacity * seconds) / tokens < 3e9)
    .map(([capacity, [tokens, seconds]]) => tb(capacity, tokens, seconds));
  const checks = fc.array(
    fc.record({
      bucket: fc.integer({ min: 0, max: 3 }),
      limit: fc.integer({ min: 0, max: 2 }),
      cost: fc.oneof(fc.integer({ min: -5, max: 12 }), fc.constantFrom(1_000_000, 9_000_000_000, -1_000_000)),
      shadow: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  );
  const elapsed = fc.oneof(
    fc.integer({ min: 0, max: 5_000_000 }),
    fc.integer({ min: -3_000_000, max: 0 }),
    fc.constantFrom(1, 3600e6, 86400e6 * 31, -60e6),
  );
  const steps = fc.array(fc.record({ elapsed, checks }), { minLength: 1, maxLength: 25 });

  it('agree on every field of every answer and on what is stored, for the same random sequence', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(limits, { minLength: 3, maxLength: 3 }), steps, async (three, sequence) => {
        let nowUs = 1_700_000_000_000_000;
        const memory = new MemoryBucketStore(() => nowUs);
        const prefix = `twin:{${randomUUID()}}:`;
        for (const step of sequence) {
          nowUs += step.elapsed;
          await redis.setTimeUs(nowUs);
          const byBucket = new Map(step.checks.map((check) => [check.bucket, check]));
          const asked: Check[] = [...byBucket.values()].map((check) => ({
            key: `${prefix}${check.bucket}`,
            limit: three[check.limit]!,
            cost: check.cost,
            shadow: check.shadow,
          }));
          const fromMemory = memory.admit(asked);
          expect(await redis.store.admit(asked)).toEqual(fromMemory);
          for (const key of [0, 1, 2, 3].map((bucket) => `${prefix}${bucket}`)) {
            // Redis forgets full buckets by its own clock, which the test does not set: it follows the memory store here.
            const held = memory.stored(key) as { tokens: number; ts: number; remainder: number } | undefined;
            await redis.command(held === undefined ? 'DEL' : 'PERSIST', key);
            const stored = (await redis.command('HMGET', key, 'tokens', 'ts', 'rem')) as (string | null)[];
            if (held !== undefined) expect(stored.map(Number)).toEqual([held.tokens, held.ts, held.remainder]);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('RedisBucketStore', () => {
  let client: RedisClient;
  let store: RedisBucketStore;
  const limit = tb(10, 1);
  const key = (): string => `test:{${randomUUID()}}:k`;
  const check = (name: string, cost = 1): Check => ({ key: name, limit, cost, shadow: false });

  beforeAll(async () => {
    client = connectRedis({ url: sharedRedisUrl(), deadlineMs: 1000, scripts: bucketScripts, connectionName: 'store' });
    store = new RedisBucketStore(client);
    await waitFor(() => client.connected, { timeoutMs: 5000, what: 'the connection to Redis' });
  });
  afterAll(() => client.close());

  it('NUM-13, RED-17: every key has a TTL: at most the time to fill, and one second', async () => {
    for (const [capacity, tokens, seconds] of [
      [60, 1, 1],
      [1, 1, 60],
      [1, 10_000, 1],
      [60_000, 1000, 1],
    ] as const) {
      const name = key();
      await store.admit([{ key: name, limit: tb(capacity, tokens, seconds), cost: capacity, shadow: false }]);
      const ttl = Number(await client.command('PTTL', name));
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(Math.ceil((capacity * seconds * 1000) / tokens) + 1000);
    }
  });

  it('RED-17: a key found without a TTL gets one with the next charge', async () => {
    const name = key();
    await client.command('HSET', name, 'tokens', 5_000_000, 'ts', 1);
    await store.admit([check(name)]);
    expect(Number(await client.command('PTTL', name))).toBeGreaterThan(0);
  });

  it.each([
    ['a string', ['SET', 'KEY', 'planted']],
    ['a list', ['RPUSH', 'KEY', 'planted']],
    ['a hash of rubbish', ['HSET', 'KEY', 'tokens', 'nan', 'ts', 'inf']],
    ['a hash with negative tokens', ['HSET', 'KEY', 'tokens', '-5', 'ts', '1']],
    ['a hash with half a state', ['HSET', 'KEY', 'tokens', '5']],
  ])('CFG-15: %s in the place of a bucket is replaced, counted, and limits again', async (_what, command) => {
    const name = key();
    const [verb = '', ...args] = command.map((word) => (word === 'KEY' ? name : word));
    await client.command(verb, ...args);
    expect(await store.admit([check(name)])).toMatchObject({ admitted: true, healed: 1 });
    let admitted = 0;
    for (let i = 0; i < 15; i += 1) if ((await store.admit([check(name)])).admitted) admitted += 1;
    expect(admitted).toBe(9);
  });

  it('a damaged remainder or rate is harmless', async () => {
    const name = key();
    await store.admit([check(name, 10)]);
    await client.command('HSET', name, 'rem', '9e15', 'rate', '0/0');
    expect(await store.admit([check(name, 5)])).toMatchObject({ admitted: false });
    expect(Number(await client.command('HGET', name, 'rem'))).toBe(0);
  });

  it('RED-01: after SCRIPT FLUSH every call still answers and is charged once', async () => {
    const name = key();
    for (let i = 1; i <= 10; i += 1) {
      if (i % 3 === 0) await client.command('SCRIPT', 'FLUSH');
      expect((await store.admit([{ key: name, limit: tb(10, 1, 3600), cost: 1, shadow: false }])).verdicts[0]).toMatchObject({
        remaining: 10 - i,
      });
    }
  });

  it('a limit of N admits exactly N of many calls at one instant', async () => {
    const name = key();
    const replies = await Promise.all(Array.from({ length: 200 }, () => store.admit([{ ...check(name), limit: tb(50, 1, 3600) }])));
    expect(replies.filter((reply) => reply.admitted)).toHaveLength(50);
  });
});
