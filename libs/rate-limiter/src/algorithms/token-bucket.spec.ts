import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { tokenBucket, type TokenBucketState } from './token-bucket.js';

const rate = fc.oneof(
  fc.record({ refillTokens: fc.integer({ min: 1, max: 1_000_000 }), refillSeconds: fc.constant(1) }),
  fc.record({ refillTokens: fc.constant(1), refillSeconds: fc.integer({ min: 1, max: 2_592_000 }) }),
  fc.record({ refillTokens: fc.integer({ min: 1, max: 99_999 }), refillSeconds: fc.integer({ min: 1, max: 99_999 }) }),
);
const limits = fc
  .record({ kind: fc.constant('tokenBucket' as const), capacity: fc.integer({ min: 0, max: 1_000_000 }) })
  .chain((base) => rate.map((pair) => ({ ...base, ...pair })));

describe('tokenBucket', () => {
  it('ALG-05: remaining stays within 0..capacity, and a refusal has a wait or a cost that never fits', () => {
    const steps = fc.array(
      fc.record({ elapsedUs: fc.integer({ min: -5_000_000, max: 60_000_000 }), cost: fc.integer({ min: 0, max: 15 }) }),
      {
        minLength: 1,
        maxLength: 100,
      },
    );
    fc.assert(
      fc.property(limits, steps, (limit, sequence) => {
        let state: TokenBucketState | undefined;
        let nowUs = 1_700_000_000_000_000;
        for (const { elapsedUs, cost } of sequence) {
          nowUs += elapsedUs;
          const evaluation = tokenBucket.evaluate(state, limit, cost, nowUs);
          if (evaluation.charged !== undefined || evaluation.restated) state = evaluation.charged ?? evaluation.state;
          const { remaining, resetUs } = tokenBucket.outlook(evaluation.charged ?? evaluation.state, limit, nowUs);
          if (remaining < 0 || remaining > limit.capacity || resetUs < 0) return false;
          if (evaluation.verdict === 'refused' && evaluation.waitUs <= 0) return false;
          if (!Number.isSafeInteger(evaluation.state.tokens) || !Number.isSafeInteger(evaluation.waitUs)) return false;
        }
        return true;
      }),
      { numRuns: 300 },
    );
  });

  it('RESP-01: waiting exactly as long as told is enough, and a microsecond less is not', () => {
    const history = fc.array(fc.record({ elapsedUs: fc.nat({ max: 10_000_000 }), cost: fc.integer({ min: 1, max: 20 }) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(limits, history, fc.integer({ min: 1, max: 20 }), (limit, past, cost) => {
        let state: TokenBucketState | undefined;
        let nowUs = 1_700_000_000_000_000;
        for (const step of past) {
          nowUs += step.elapsedUs;
          state = tokenBucket.evaluate(state, limit, step.cost, nowUs).charged ?? state;
        }
        const { verdict, waitUs } = tokenBucket.evaluate(state, limit, cost, nowUs);
        if (verdict !== 'refused') return true;
        const after = tokenBucket.evaluate(state, limit, cost, nowUs + waitUs).verdict;
        const before = tokenBucket.evaluate(state, limit, cost, nowUs + waitUs - 1).verdict;
        return after === 'admitted' && before === 'refused';
      }),
      { numRuns: 500 },
    );
  });

  it('admits capacity + rate × T, less than one off, however the calls are spread', () => {
    fc.assert(
      fc.property(limits, fc.array(fc.integer({ min: 1, max: 50_000 }), { minLength: 50, maxLength: 400 }), (limit, gaps) => {
        fc.pre(limit.capacity >= 2);
        let state: TokenBucketState | undefined;
        const startUs = 1_700_000_000_000_000;
        let nowUs = startUs;
        let admitted = 0;
        const drain = (): void => {
          for (;;) {
            const probe = tokenBucket.evaluate(state, limit, 1, nowUs);
            const { remaining } = tokenBucket.outlook(probe.state, limit, nowUs);
            if (remaining === 0) return;
            state = tokenBucket.evaluate(state, limit, remaining, nowUs).charged;
            admitted += remaining;
          }
        };
        drain();
        for (const gap of gaps) {
          // While nothing overflows, nothing may be lost.
          const fills = (limit.capacity * limit.refillSeconds * 1e6) / limit.refillTokens;
          nowUs += Math.min(gap, Math.floor(fills / 2));
          drain();
        }
        const exact = limit.capacity + ((nowUs - startUs) * limit.refillTokens) / (limit.refillSeconds * 1e6);
        return admitted <= exact + 1e-6 && admitted > exact - 1;
      }),
      { numRuns: 200 },
    );
  });
});
