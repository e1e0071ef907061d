import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import {
  compileRules,
  explanationText,
  parseLimit,
  loadEdgeDocument,
  loadLimitsDocument,
  type OwnedRoute,
  type PartitionName,
  type Rules,
} from '#libs/rules';

const fixtures = fileURLToPath(new URL('./fixtures/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'esclusa-'));
const edge = loadEdgeDocument(join(fixtures, 'good-edge.yaml'));
const good = compileRules(edge, loadLimitsDocument(join(fixtures, 'good-limits.yaml')), []);

type Json = Readonly<Record<string, unknown>>;
const bucket = (capacity: number) => ({ tokenBucket: { capacity, refillPerSecond: 100 } });
let files = 0;
const compile = (policies: readonly Json[], owned: readonly OwnedRoute[] | 'unknown' = [], tenants: Json = {}): Rules => {
  files += 1;
  const file = join(folder, `limits-${files}.yaml`);
  writeFileSync(file, stringify({ version: 1, tenants, policies }));
  return compileRules(edge, loadLimitsDocument(file), owned === 'unknown' ? undefined : owned);
};
const address = { name: 'address', per: ['ip'], limits: [{ default: true, ...bucket(60) }] };
const tenant = { name: 'tenant', per: ['tenant'], limits: [{ default: true, ...bucket(60) }] };
const resolved = (rules: Rules, route: string, subject: { tenant?: string; user?: string; ip: string }) =>
  rules.resolve(rules.routes.get(route)!, subject).map(({ applied, key }) => [applied.policy, applied.selector, key]);

describe('resolution', () => {
  it.each([
    ['search', 'acme', 'tenant=acme, route=search'],
    ['orders.read', 'acme', 'tenant=acme'],
    ['search', 'initech', 'route=search'],
    ['orders.read', 'initech', 'default'],
    ['orders.read', 'nobody', 'default'],
  ])('on %s, tenant %s gets the limit by %s: most specific wins', (route, name, selector) => {
    expect(resolved(good, route, { tenant: name, ip: 'x' })[0]).toEqual([
      'requests',
      selector,
      `rl1:{tenant:${name}}:requests:route:${route}`,
    ]);
  });

  it('a tier and a route together beat a tenant alone', () => {
    const limits = [
      { default: true, ...bucket(1) },
      { tenant: 't', ...bucket(2) },
      { tier: 'pro', route: 'search', ...bucket(3) },
    ];
    const rules = compile([{ name: 'p', per: ['tenant'], limits }, address], [], { t: { tier: 'pro' } });
    expect(resolved(rules, 'search', { tenant: 't', ip: 'x' })[0]?.[1]).toBe('tier=pro, route=search');
    expect(resolved(rules, 'latest', { tenant: 't', ip: 'x' })[0]?.[1]).toBe('tenant=t');
  });

  it.each<[string, readonly string[], Json, string]>([
    ['a route of a policy per tenant', ['tenant'], { route: 'search' }, 'rl1:{tenant:acme}:p:route:search'],
    ['a route of a policy per user', ['user'], { route: 'search' }, 'rl1:{tenant:acme}:p:user:bob:route:search'],
    ['a tier of a policy per route', ['route'], { tier: 'pro' }, 'rl1:{route:search}:p:tier:pro'],
    ['a tenant of a policy per route', ['route'], { tenant: 'acme' }, 'rl1:{route:search}:p:tenant:acme'],
    ['a tier and a route of a policy for everything', [], { tier: 'pro', route: 'search' }, 'rl1:{global}:p:tier:pro:route:search'],
    ['a tier of a policy per tenant', ['tenant'], { tier: 'pro' }, 'rl1:{tenant:acme}:p'],
    ['a route of a policy per route', ['tenant', 'route'], { route: 'search' }, 'rl1:{tenant:acme}:p:route:search'],
  ])('one bucket has one limit: a limit for %s has a bucket of its own unless it has one anyway', (_what, per, selector, key) => {
    const limits = [
      { default: true, ...bucket(1) },
      { ...selector, ...bucket(100) },
    ];
    const wide = { name: 'wide', per: ['tenant'], limits: [{ default: true, ...bucket(1000) }] };
    const rules = compile([{ name: 'p', per, callers: 'all', limits }, wide, address], [], { acme: { tier: 'pro' } });
    expect(resolved(rules, 'search', { tenant: 'acme', user: 'bob', ip: 'x' })[0]?.[2]).toBe(key);
  });

  it('two callers or routes with different limits of one policy never share a bucket', () => {
    const names = { tenant: ['acme', 'initech', undefined], route: ['search', 'latest'] };
    const selectors: Json[] = [
      { route: 'search' },
      { tier: 'pro' },
      { tenant: 'initech' },
      { tier: 'pro', route: 'search' },
      { tenant: 'acme', route: 'latest' },
    ];
    fc.assert(
      fc.property(fc.subarray(['tenant', 'user', 'apiKey', 'ip', 'route']), fc.subarray(selectors), (per, chosen) => {
        const limits = [{ default: true, ...bucket(1) }, ...chosen.map((selector, i) => ({ ...selector, ...bucket(2 + i) }))];
        const wide = { name: 'wide', per: ['tenant'], limits: [{ default: true, ...bucket(1000) }] };
        const tenants = { acme: { tier: 'pro' }, initech: { tier: 'free' } };
        const rules = compile([{ name: 'p', per, callers: 'all', limits }, wide, address], [], tenants);
        const limitOf = new Map<string, string>();
        for (const name of names.tenant) {
          for (const route of names.route) {
            const [, selector = '', key = ''] =
              resolved(rules, route, { ip: 'x', ...(name === undefined ? {} : { tenant: name }) })[0] ?? [];
            if ((limitOf.get(key) ?? selector) !== selector) return false;
            limitOf.set(key, selector);
          }
        }
        return true;
      }),
      { numRuns: 100 },
    );
  });

  it('policies per tenant are for identified callers, per address for anonymous ones, the rest for all', () => {
    const rules = compile([tenant, address, { name: 'all', per: ['route'], limits: [{ default: true, ...bucket(9) }] }]);
    expect(resolved(rules, 'latest', { tenant: 't', ip: 'x' }).map(([name]) => name)).toEqual(['tenant', 'all']);
    expect(resolved(rules, 'latest', { ip: 'x' }).map(([name]) => name)).toEqual(['address', 'all']);
  });

  it('leaves unlimited policies out, and knows which policies are for which routes', () => {
    expect(resolved(good, 'search', { tenant: 'acme', user: 'u', ip: 'x' }).map(([name]) => name)).toEqual(['requests']);
    expect(resolved(good, 'search', { tenant: 'initech', user: 'u', ip: 'x' }).map(([name]) => name)).toEqual(['requests', 'trial']);
    expect(resolved(good, 'latest', { tenant: 'initech', user: 'u', ip: 'x' }).map(([name]) => name)).toEqual(['requests']);
  });

  it('ALG-19: two policies that differ only in their window both apply', () => {
    const rules = compile([
      tenant,
      { ...tenant, name: 'long', limits: [{ default: true, tokenBucket: { capacity: 60, refillPerSecond: '1/60' } }] },
      address,
    ]);
    expect(resolved(rules, 'latest', { tenant: 't', ip: 'x' })).toHaveLength(2);
  });

  it('CFG-17: the order of limits and policies never matters', () => {
    const limits = [
      { default: true, ...bucket(1) },
      { tier: 'pro', ...bucket(2) },
      { route: 'search', ...bucket(3) },
      { tenant: 't', ...bucket(4) },
      { tier: 'pro', route: 'search', ...bucket(5) },
      { tenant: 't', route: 'search', ...bucket(6) },
    ];
    const verdicts = (order: readonly Json[], policies: (p: Json) => readonly Json[]): string => {
      const rules = compile(policies({ name: 'p', per: ['tenant'], limits: order }), [], { t: { tier: 'pro' }, u: { tier: 'pro' } });
      const cases = ['search', 'latest'].flatMap((route) =>
        ['t', 'u', 'v'].map((name) => resolved(rules, route, { tenant: name, ip: 'x' })),
      );
      return JSON.stringify(cases.map((checks) => [...checks].sort()));
    };
    const reference = verdicts(limits, (p) => [p, tenant, address]);
    fc.assert(
      fc.property(fc.shuffledSubarray(limits, { minLength: limits.length }), fc.boolean(), (order, swapped) => {
        return verdicts(order, (p) => (swapped ? [address, tenant, p] : [p, tenant, address])) === reference;
      }),
      { numRuns: 60 },
    );
  });
});

describe('coverage', () => {
  it.each<[string, readonly Json[], RegExp]>([
    [
      'identified callers',
      [address],
      /route orders\.read for identified callers of no tier, such as a tenant that the document does not name;/,
    ],
    ['anonymous callers', [tenant], /route orders\.read for anonymous callers, such as an address/],
    ['callers whose only policy is shadow', [{ ...tenant, shadow: true }, address], /for identified callers/],
    [
      'a tier whose only limit is shadow',
      [{ ...tenant, limits: [...tenant.limits, { tier: 'pro', shadow: true, ...bucket(1) }] }, address],
      /for callers of tier pro/,
    ],
    [
      'a tenant whose only limit is shadow',
      [{ ...tenant, limits: [...tenant.limits, { tenant: 't', shadow: true, ...bucket(1) }] }, address],
      /for tenant t;/,
    ],
    [
      'one route',
      [tenant, { ...address, routes: ['orders.read', 'order', 'latest', 'orders.write', 'unmatched', 'rate-limit'] }],
      /route search for anonymous callers/,
    ],
    [
      'what no route matches',
      [tenant, { ...address, routes: ['orders.read', 'order', 'latest', 'orders.write', 'search', 'rate-limit'] }],
      /route unmatched/,
    ],
  ])('refuses documents that leave %s without an enforcing policy', (_who, policies, told) => {
    expect(() => compile(policies)).toThrow(told);
  });

  it('takes an explicit unlimited for what it says', () => {
    expect(() => compile([{ ...tenant, limits: [...tenant.limits, { tenant: 'ours', unlimited: true }] }, address])).not.toThrow();
  });

  it('refuses limits for routes that do not exist, and names those that do', () => {
    expect(() => compile([tenant, { ...address, routes: ['serach'] }])).toThrow(
      /policies\[1\]\.routes\[0\]: found "serach"; allowed: .*search/,
    );
    expect(() => compile([{ ...tenant, limits: [...tenant.limits, { route: 'none', ...bucket(1) }] }, address])).toThrow(
      /limits\[1\]\.route/,
    );
  });
});

describe('routes of the edge itself', () => {
  const owned = (more: Partial<OwnedRoute>): OwnedRoute => ({
    route: { ...good.routes.get('search')!, name: 'GET /own', upstream: undefined },
    policies: [],
    skip: undefined,
    ...more,
  });

  it('refuse a decorator’s limit by the same rules, naming the route', () => {
    const policies = [{ name: 'Own', limit: bucket(5) }];
    expect(() => compile([tenant, address], [owned({ policies })])).toThrow(
      /@RateLimit on GET \/own: Own: found "Own"; allowed: a name of a-z/,
    );
  });

  it('have policies of one name and two limits only where each route has its own bucket', () => {
    const two = (per: readonly PartitionName[]): OwnedRoute[] =>
      ['GET /one', 'GET /two'].map((name, i) =>
        owned({ route: { ...owned({}).route, name, path: name.slice(4) }, policies: [{ name: 'exports', per, limit: bucket(5 + i) }] }),
      );
    expect(() => compile([tenant, address], two(['tenant']))).toThrow(
      '@RateLimit on GET /two: exports: found another limit than on GET /one, counted in the same place; allowed: the same limit on both, or `per` with route',
    );
    expect(() => compile([tenant, address], two(['tenant', 'route']))).not.toThrow();
  });

  it('have one handler each: two with one name would share its policies', () => {
    expect(() => compile([tenant, address], [owned({}), owned({})])).toThrow(
      'controllers: GET /own: found two handlers; allowed: one handler for each method and path',
    );
  });

  it('may be named by limits that tools check without knowing the controllers, and must exist where they are known', () => {
    const named = { ...tenant, limits: [...tenant.limits, { route: 'POST /exports', ...bucket(1) }] };
    expect(() => compile([named, address], 'unknown')).not.toThrow();
    expect(() => compile([named, address], [])).toThrow(/found "POST \/exports"; allowed: a route of the edge/);
  });

  it('need cover too, unless they skip admission altogether', () => {
    const some = [
      { ...tenant, routes: ['orders.read', 'order', 'latest', 'orders.write', 'search'] },
      { ...address, routes: ['orders.read', 'order', 'latest', 'orders.write', 'search', 'unmatched', 'rate-limit'] },
    ];
    expect(() => compile(some, [owned({})])).toThrow(/route GET \/own for anonymous callers/);
    expect(() => compile(some, [owned({ skip: 'all' })])).not.toThrow();
    expect(() => compile(some, [owned({ policies: [{ name: 'own', limit: bucket(5) }] })])).not.toThrow();
  });
});

describe('explain', () => {
  it('says which limit of each policy applies, over which others, and where it is counted', () => {
    expect(explanationText(good.explain({ tenant: 'acme', route: 'search' }))).toBe(
      [
        'route search (any method /search, cost 1, failure mode open), tenant acme, tier enterprise',
        '  requests: a bucket of 400, refilled by 200 a second by tenant=acme, route=search',
        '      over a bucket of 100, refilled by 50 a second by tier=enterprise, route=search',
        '      over a bucket of 3000, refilled by 1 every 10 s by tenant=acme',
        '      over a bucket of 10, refilled by 5 a second by route=search',
        '      over a bucket of 2000, refilled by 1000 a second by tier=enterprise',
        '      over a bucket of 40, refilled by 20 a second by default',
        '      counted in rl1:{tenant:acme}:requests:route:search',
        '  trial: unlimited by tenant=acme, shadow',
        '      over a bucket of 5, refilled by 1 every 3600 s by default, shadow',
        '      counted in rl1:{tenant:acme}:trial',
        '  per-address: does not apply, it is for anonymous callers',
      ].join('\n'),
    );
    expect(() => good.explain({ route: 'none' })).toThrow('no route is called none');
  });

  it('tells the same as resolution does, for every caller and route', () => {
    const subjects = [{ tenant: 'acme' }, { tenant: 'initech' }, { tenant: 'nobody', user: 'u' }, {}];
    for (const route of [...good.routes.values()].filter(({ upstream }) => upstream !== undefined)) {
      for (const subject of subjects) {
        const told = good
          .explain({ route: route.name, ...subject })
          .policies.filter(({ applies, candidates }) => applies && candidates[0]?.limit.kind !== 'unlimited')
          .map(({ candidates: [applied], key }) => ({ applied, key }));
        expect(told).toEqual(good.resolve(route, { ...subject, ip: 'ADDRESS' }));
      }
    }
  });

  it('counts everybody by address on the built-in routes, as the edge does', () => {
    const { identified, policies } = good.explain({ tenant: 'acme', route: 'unmatched' });
    expect(identified).toBe(false);
    expect(policies.filter(({ applies }) => applies)).toMatchObject([{ policy: 'per-address', key: 'rl1:{ip:ADDRESS}:per-address' }]);
  });
});

describe('parseLimit', () => {
  it.each([
    [0.1, 1, 10],
    [2.5, 5, 2],
    ['100000/86400', 125, 108],
    ['1/2592000', 1, 2_592_000],
    [1_000_000, 1_000_000, 1],
  ])('keeps %s per second exactly, as %i tokens every %i s', (refillPerSecond, refillTokens, refillSeconds) => {
    expect(parseLimit({ tokenBucket: { capacity: 5, refillPerSecond } })).toEqual({
      kind: 'tokenBucket',
      capacity: 5,
      refillTokens,
      refillSeconds,
    });
  });

  it('takes unlimited, where it is said', () => {
    expect(parseLimit({ unlimited: true })).toEqual({ kind: 'unlimited' });
  });

  it('CFG-11: takes capacity 0, which refuses everything, and refuses rate 0', () => {
    expect(parseLimit({ tokenBucket: { capacity: 0, refillPerSecond: 1 } })).toMatchObject({ capacity: 0 });
    expect(() => parseLimit({ tokenBucket: { capacity: 5, refillPerSecond: 0 } })).toThrow('what refuses everything is capacity: 0');
  });

  it.each([[{}], [{ unlimited: true, tokenBucket: { capacity: 1, refillPerSecond: 1 } }], [{ gcra: {} }], [{ tokenBucket: null }]])(
    'refuses %j with what is allowed',
    (options) => {
      expect(() => parseLimit(options as Parameters<typeof parseLimit>[0])).toThrow(/limit: .*allowed: /);
    },
  );
});
