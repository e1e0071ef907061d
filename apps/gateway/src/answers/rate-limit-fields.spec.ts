import { describe, expect, it } from '@jest/globals';
import type { Decision, PolicyVerdict } from '#libs/admission';
import { rateLimitFields, retryAfterSeconds } from './rate-limit-fields.js';

const verdict = (
  policy: string,
  capacity: number,
  refill: readonly [number, number],
  more: Partial<PolicyVerdict> = {},
): PolicyVerdict => ({
  applied: {
    policy,
    limit: { kind: 'tokenBucket', capacity, refillTokens: refill[0], refillSeconds: refill[1] },
    shadow: false,
    selector: 'default',
    per: ['tenant'],
    keySuffix: '',
  },
  verdict: 'admitted',
  remaining: capacity,
  retryAfterMs: undefined,
  resetAfterMs: 0,
  ...more,
});
const decision = (policies: readonly PolicyVerdict[], more: Partial<Decision> = {}): Decision =>
  ({ outcome: 'allowed', reason: undefined, cost: 1, policies, route: { name: 'GET /límite "x"' }, ...more }) as Decision;

describe('rateLimitFields', () => {
  it('names the policy with the least left and paces a client that spreads r over t', () => {
    const fields = rateLimitFields(
      decision([verdict('burst', 10, [5, 1], { remaining: 9 }), verdict('daily', 1000, [1, 86], { remaining: 5 })]),
      'draft-11',
    );
    expect(fields).toEqual(['RateLimit-Policy', '"burst";q=10;w=2, "daily";q=1000;w=86000', 'RateLimit', '"daily";r=5;t=430']);
  });

  it('on a refusal lists every policy that refuses, with what is left and when to come back', () => {
    const refused = { verdict: 'refused' as const, remaining: 2, retryAfterMs: 1001 };
    const fields = rateLimitFields(
      decision([verdict('a', 10, [5, 1], refused), verdict('b', 10, [5, 1])], { outcome: 'limited', cost: 5 }),
      'draft-11',
    );
    expect(fields[3]).toBe('"a";r=2;t=2');
  });

  it('gives no time where waiting does not help', () => {
    const hopeless = { verdict: 'cost-exceeds-limit' as const, remaining: 0 };
    expect(rateLimitFields(decision([verdict('zero', 0, [1, 1], hopeless)], { outcome: 'limited' }), 'draft-11')).toEqual([
      'RateLimit-Policy',
      '"zero";q=0;w=1',
      'RateLimit',
      '"zero";r=0',
    ]);
  });

  it('leaves shadow policies out, and sends nothing where none is left', () => {
    const shadow = verdict('s', 1, [1, 1]);
    const policies = [{ ...shadow, applied: { ...shadow.applied, shadow: true } }];
    expect(rateLimitFields(decision(policies), 'draft-11')).toEqual([]);
  });

  it('HTTP-17: puts only visible ASCII into fields, whatever a route is called', () => {
    const fields = rateLimitFields(
      decision([verdict('q', 10, [5, 1], { remaining: 4, resetAfterMs: 1200 })]),
      'github',
      () => 1_700_000_000_000,
    );
    expect(fields).toEqual([
      'x-ratelimit-limit',
      '10',
      'x-ratelimit-remaining',
      '4',
      'x-ratelimit-used',
      '6',
      'x-ratelimit-reset',
      '1700000002',
      'x-ratelimit-resource',
      'GET-/l-mite-"x"',
    ]);
  });
});

describe('retryAfterSeconds', () => {
  it.each([
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
    [3_600_000, 3600],
  ])('RESP-01: %i ms become %i s', (ms, seconds) => {
    expect(retryAfterSeconds(ms)).toBe(seconds);
  });
});
