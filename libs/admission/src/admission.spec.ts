import { describe, expect, it } from '@jest/globals';
import { Admission, type Decision } from '#libs/admission';
import { MemoryBucketStore, StoreFault, type BucketStore } from '#libs/rate-limiter';
import type { AppliedCheck, FailureMode, Limit, Route, Rules } from '#libs/rules';

const tb = (capacity: number): Limit => ({ kind: 'tokenBucket', capacity, refillTokens: 1, refillSeconds: 1 });
const applied = (policy: string, limit: Limit, shadow = false): AppliedCheck => ({
  applied: { policy, limit, shadow, selector: 'default', per: ['tenant'], keySuffix: '' },
  key: `{t}:${policy}`,
});
const route = (failureMode: FailureMode = 'open'): Route => ({
  name: 'r',
  methods: undefined,
  path: '/r',
  upstream: 'u',
  criticality: 'critical',
  failureMode,
  cost: 1,
  auth: 'optional',
  deadlineMs: undefined,
  upgrades: [],
  strictPath: false,
});
const subject = { tenant: 't', user: undefined, apiKey: undefined, ip: '10.0.0.1' };

function admission(checks: readonly AppliedCheck[], store: BucketStore = new MemoryBucketStore(() => 1e15)) {
  const faults: string[] = [];
  const rules = { revision: 7, edge: { localGateways: 2 }, resolve: () => checks } as unknown as Rules;
  const made = new Admission({
    rules: () => rules,
    store,
    local: new MemoryBucketStore(() => 1e15),
    onFault: (fault) => faults.push(fault.kind),
    onHealed: () => undefined,
  });
  const ask = async (cost = 1, failureMode: FailureMode = 'open'): Promise<Decision> =>
    made.admit({ route: route(failureMode), subject, cost });
  return { ask, faults, made };
}

const broken: BucketStore = {
  admit: () => Promise.reject(new StoreFault('deadline', 'no reply within 5 ms')),
  reset: () => Promise.reject(new StoreFault('deadline', 'no reply within 5 ms')),
};

describe('Admission', () => {
  it('admits until one policy refuses, and names the revision that decided', async () => {
    const { ask } = admission([applied('wide', tb(10)), applied('tight', tb(1))]);
    expect(await ask()).toMatchObject({ outcome: 'allowed', reason: undefined, source: 'store', degraded: false, revision: 7 });
    expect(await ask()).toMatchObject({ outcome: 'limited', reason: 'quota', retryAfterMs: 1000 });
  });

  it('asks for the longest wait where several policies refuse', async () => {
    const { ask } = admission([applied('one', tb(3)), applied('two', tb(5))]);
    await ask(3);
    expect(await ask(3)).toMatchObject({ retryAfterMs: 3000 });
  });

  it('gives a cost that can never fit its own reason, and no time to come back', async () => {
    const { ask } = admission([applied('tight', tb(2)), applied('used', tb(3))]);
    await ask(2);
    expect(await ask(3)).toMatchObject({ outcome: 'limited', reason: 'cost-exceeds-limit', retryAfterMs: undefined });
  });

  it('CFG-13: a shadow policy is reported and never refuses', async () => {
    const { ask } = admission([applied('shadow', tb(1), true), applied('enforced', tb(3))]);
    await ask();
    const second = await ask();
    expect(second.outcome).toBe('allowed');
    expect(second.policies.map(({ verdict }) => verdict)).toEqual(['refused', 'admitted']);
  });

  it('allows without asking where no policy limits', async () => {
    expect(await admission([]).ask()).toMatchObject({ outcome: 'allowed', source: 'none', degraded: false });
  });

  it.each([
    ['open', { outcome: 'allowed', reason: 'store-unavailable', degraded: true, policies: [] }],
    ['closed', { outcome: 'unavailable', reason: 'store-unavailable', degraded: true, retryAfterMs: 1000 }],
    ['local', { outcome: 'allowed', source: 'local-fallback', degraded: true }],
  ] as const)('FAIL-01: without the store, failure mode %s does what it says', async (mode, expected) => {
    const { ask, faults } = admission([applied('p', tb(40))], broken);
    expect(await ask(1, mode)).toMatchObject(expected);
    expect(faults).toEqual(['deadline']);
  });

  it('local admits half of limit / gateways', async () => {
    const { ask } = admission([applied('p', tb(40))], broken);
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => ask(1, 'local')));
    expect(outcomes.filter(({ outcome }) => outcome === 'allowed')).toHaveLength(10);
  });

  it('local answers a cost that only its share has no room for as out of service, and one that never fits as such', async () => {
    const { ask } = admission([applied('p', tb(40)), applied('shadow', tb(5), true)], broken);
    expect(await ask(20, 'local')).toMatchObject({ outcome: 'unavailable', reason: 'store-unavailable', retryAfterMs: 1000 });
    expect(await ask(41, 'local')).toMatchObject({ outcome: 'limited', reason: 'cost-exceeds-limit', retryAfterMs: undefined });
  });

  it('lets a fault of the program through: it is no fault of the store', async () => {
    const store: BucketStore = { admit: () => Promise.reject(new TypeError('a bug')), reset: () => Promise.resolve(0) };
    await expect(admission([applied('p', tb(1))], store).ask()).rejects.toThrow('a bug');
  });

  it('peeks without spending and resets one policy or all', async () => {
    const { ask, made } = admission([applied('a', tb(2)), applied('b', tb(2))]);
    await ask(2);
    expect((await made.peek(route(), subject)).map(({ remaining }) => remaining)).toEqual([0, 0]);
    expect(await made.reset(route(), subject, 'a')).toEqual(['{t}:a']);
    expect((await made.peek(route(), subject)).map(({ remaining }) => remaining)).toEqual([2, 0]);
  });
});
