import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { BucketStore, Check, CheckVerdict, TokenBucketLimit } from '#libs/rate-limiter';

/** A store under a clock that the test sets. */
export interface StoreUnderTest {
  readonly store: BucketStore;
  setTimeUs(nowUs: number): Promise<void>;
  /** Micro-tokens stored for a key; undefined where there is none. */
  storedTokens(key: string): Promise<number | undefined>;
  close(): Promise<void>;
}

const T0 = 1_700_000_000_000_000;
const SECOND = 1_000_000;

export const tb = (capacity: number, refillTokens: number, refillSeconds = 1): TokenBucketLimit => ({
  kind: 'tokenBucket',
  capacity,
  refillTokens,
  refillSeconds,
});

/** What every bucket store does, whatever holds its state. */
export function bucketStoreContract(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`bucket store contract: ${name}`, () => {
    let subject: StoreUnderTest;
    let prefix: string;
    let nowUs: number;

    beforeAll(async () => {
      subject = await make();
    });
    afterAll(() => subject.close());
    beforeEach(async () => {
      prefix = `test:{${randomUUID()}}:`;
      nowUs = T0;
      await subject.setTimeUs(nowUs);
    });

    const advance = async (us: number): Promise<void> => {
      nowUs += us;
      await subject.setTimeUs(nowUs);
    };
    const check = (limit: TokenBucketLimit, cost = 1, key = 'a', shadow = false): Check => ({ key: prefix + key, limit, cost, shadow });
    const ask = async (limit: TokenBucketLimit, cost = 1, key = 'a') => {
      const reply = await subject.store.admit([check(limit, cost, key)]);
      return { admitted: reply.admitted, ...(reply.verdicts[0] as CheckVerdict) };
    };
    const admittedOf = async (calls: number, limit: TokenBucketLimit): Promise<number> => {
      let admitted = 0;
      for (let i = 0; i < calls; i += 1) if ((await ask(limit)).admitted) admitted += 1;
      return admitted;
    };

    it('admits a burst up to capacity, then the refill rate', async () => {
      expect(await admittedOf(12, tb(10, 5))).toBe(10);
      await advance(SECOND);
      expect(await admittedOf(12, tb(10, 5))).toBe(5);
    });

    it('ALG-01: a refused weighted request neither spends nor owes tokens', async () => {
      const limit = tb(10, 1, 10);
      await ask(limit, 8);
      expect(await ask(limit, 5)).toMatchObject({ verdict: 'refused', remaining: 2 });
      expect(await subject.storedTokens(`${prefix}a`)).toBe(2 * SECOND);
      expect(await ask(limit, 2)).toMatchObject({ verdict: 'admitted', remaining: 0 });
      expect(await ask(limit, 1_000_000)).toMatchObject({ verdict: 'cost-exceeds-limit', retryAfterMs: undefined });
      expect(await subject.storedTokens(`${prefix}a`)).toBe(0);
    });

    it.each([
      [6000, 6000],
      [50_000, 50_000],
    ])('ALG-07: a bucket of %i at %i a second still limits with the clock frozen', async (capacity, rate) => {
      const limit = tb(capacity, rate);
      const step = capacity / 100;
      for (let i = 1; i <= 100; i += 1) {
        expect(await ask(limit, step)).toMatchObject({ verdict: 'admitted', remaining: capacity - step * i });
      }
      expect(await admittedOf(20, limit)).toBe(0);
    });

    it('NUM-03: a stored time far ahead of the clock is cut to now, and the first refill is not late', async () => {
      const limit = tb(10, 1);
      await advance(30 * SECOND);
      expect(await admittedOf(10, limit)).toBe(10);
      await advance(-30 * SECOND);
      expect(await ask(limit)).toMatchObject({ admitted: false, retryAfterMs: 1000 });
      await advance(SECOND);
      expect(await ask(limit)).toMatchObject({ admitted: true });
    });

    it('NUM-03: a step back of up to a second is held: it neither drains nor fills', async () => {
      const limit = tb(10, 1);
      await ask(limit, 10);
      await advance(-SECOND / 2);
      expect(await ask(limit)).toMatchObject({ admitted: false, remaining: 0, retryAfterMs: 1500 });
      await advance(SECOND / 2);
      expect(await ask(limit)).toMatchObject({ admitted: false, retryAfterMs: 1000 });
      await advance(SECOND);
      expect(await ask(limit)).toMatchObject({ admitted: true });
    });

    it('NUM-05: a wait under a second is told in milliseconds, never as zero', async () => {
      const limit = tb(1, 2, 5);
      await ask(limit);
      await advance(2_475_000);
      expect(await ask(limit)).toMatchObject({ verdict: 'refused', remaining: 0, retryAfterMs: 25 });
    });

    it('NUM-07: a bucket that fills within a tenth of a millisecond is not forgotten at once', async () => {
      expect(await admittedOf(100, tb(1, 10_000))).toBe(1);
    });

    it('NUM-09: one an hour, polled every second, is admitted on the hour and never early', async () => {
      const limit = tb(1, 1, 3600);
      const admittedAt: number[] = [];
      let last = Number.POSITIVE_INFINITY;
      for (let second = 0; second <= 7200; second += 1) {
        const answer = await ask(limit);
        if (answer.admitted) {
          admittedAt.push(second);
          last = Number.POSITIVE_INFINITY;
        } else {
          const retryAfter = Math.ceil((answer.retryAfterMs ?? 0) / 1000);
          expect(retryAfter).toBeLessThan(last);
          last = retryAfter;
        }
        await advance(SECOND);
      }
      expect(admittedAt).toEqual([0, 3600, 7200]);
    });

    it('NUM-11: five thousand million a day are counted exactly', async () => {
      const limit = tb(5_000_000_000, 5_000_000_000, 86_400);
      expect(await ask(limit, 1)).toMatchObject({ remaining: 4_999_999_999 });
      expect(await ask(limit, 4_999_999_999)).toMatchObject({ verdict: 'admitted', remaining: 0 });
    });

    it('polling faster than one micro-token flows in does not starve the bucket', async () => {
      const limit = tb(2, 1, 2_592_000);
      await ask(limit, 2);
      for (let i = 0; i < 1000; i += 1) {
        await advance(999);
        await ask(limit);
      }
      await advance(2_592_000 * SECOND - 999_000);
      expect(await ask(limit)).toMatchObject({ admitted: true });
      expect(await ask(limit)).toMatchObject({ admitted: false });
    });

    it('CFG-03: time before a change of rate is priced at the old rate', async () => {
      const before = tb(100, 1, 3600);
      const after = tb(100, 100);
      await ask(before, 100);
      await advance(1800 * SECOND);
      await ask(before);
      await advance(1000);
      expect(await ask(after)).toMatchObject({ admitted: false, remaining: 0 });
      await ask(after, 1);
      await advance(SECOND);
      expect(await ask(after, 50)).toMatchObject({ admitted: true });
    });

    it('RESP-03: a limit lowered below what is used refuses with a wait that holds', async () => {
      await ask(tb(100, 100, 60), 95);
      const lower = tb(20, 20, 60);
      const refused = await ask(lower, 10);
      expect(refused).toMatchObject({ verdict: 'refused', remaining: 5, retryAfterMs: 15_000 });
      await advance(15 * SECOND);
      expect(await ask(lower, 10)).toMatchObject({ verdict: 'admitted' });
    });

    it('a lower capacity cuts stored credit', async () => {
      await ask(tb(100, 1), 1);
      expect(await ask(tb(10, 1), 1)).toMatchObject({ admitted: true, remaining: 9 });
    });

    it('CFG-11: capacity 0 refuses every call from the first, without a time to come back', async () => {
      for (let i = 0; i < 3; i += 1) {
        expect(await ask(tb(0, 1))).toMatchObject({
          admitted: false,
          verdict: 'cost-exceeds-limit',
          retryAfterMs: undefined,
          remaining: 0,
        });
      }
    });

    it('spends all checks or none', async () => {
      const tight = tb(1, 1, 100);
      const wide = tb(10, 1, 100);
      const all = () => subject.store.admit([check(wide, 1, 'a'), check(tight, 1, 'b'), check(wide, 1, 'c')]);
      expect((await all()).admitted).toBe(true);
      const refused = await all();
      expect(refused.admitted).toBe(false);
      expect(refused.verdicts.map(({ verdict }) => verdict)).toEqual(['admitted', 'refused', 'admitted']);
      expect(refused.verdicts.map(({ remaining }) => remaining)).toEqual([9, 0, 9]);
      expect(await subject.storedTokens(`${prefix}a`)).toBe(9 * SECOND);
    });

    it('CFG-13: a shadow check reports, is charged with the rest, and never refuses', async () => {
      const shadow = check(tb(1, 1, 100), 1, 's', true);
      const enforced = check(tb(5, 1, 100), 1, 'e');
      for (const order of [
        [shadow, enforced],
        [enforced, shadow],
      ]) {
        await subject.store.reset([shadow.key, enforced.key]);
        let admitted = 0;
        for (let i = 0; i < 10; i += 1) if ((await subject.store.admit(order)).admitted) admitted += 1;
        expect(admitted).toBe(5);
      }
    });

    it('a cost below 0 gives back what was spent, never more than the limit, and leaves nothing in a fresh bucket', async () => {
      const limit = tb(10, 1, 3600);
      await ask(limit, 6);
      expect(await ask(limit, -4)).toMatchObject({ verdict: 'admitted', remaining: 8 });
      expect(await ask(limit, -4)).toMatchObject({ verdict: 'admitted', remaining: 10 });
      expect(await ask(limit, -4, 'fresh')).toMatchObject({ verdict: 'admitted', remaining: 10 });
      expect(await ask(limit, 11)).toMatchObject({ verdict: 'cost-exceeds-limit' });
    });

    it('a cost of 0 looks without spending and leaves nothing behind', async () => {
      expect(await ask(tb(10, 1), 0)).toMatchObject({ admitted: true, remaining: 10, resetAfterMs: 0 });
      expect(await subject.storedTokens(`${prefix}a`)).toBeUndefined();
    });

    it('a reset refills and says how many buckets there were', async () => {
      await ask(tb(1, 1, 100));
      expect(await subject.store.reset([`${prefix}a`, `${prefix}none`])).toBe(1);
      expect(await ask(tb(1, 1, 100))).toMatchObject({ admitted: true });
    });
  });
}
