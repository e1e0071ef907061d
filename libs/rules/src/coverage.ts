import type { LimitsDocument } from './documents/limits-document.js';
import type { Problem } from './documents/problem.js';
import { countsAddresses } from './explain.js';
import type { Route } from './model.js';
import type { OwnedRoute } from './owned.js';
import type { PolicyOnRoute } from './policies.js';
import type { RoutePolicies } from './compile-policies.js';

interface Someone {
  readonly who: string;
  readonly tenant: string | undefined;
  readonly tier: string | undefined;
}

/** Routes on which some caller would have no enforcing policy. `unlimited: true` counts: it was said, and it is never a default. */
export function uncovered(
  limits: LimitsDocument,
  routes: Iterable<Route>,
  owned: ReadonlyMap<string, OwnedRoute>,
  policies: ReadonlyMap<string, RoutePolicies>,
): readonly Problem[] {
  const identified = everyKindOfCaller(limits);
  const problems: Problem[] = [];
  for (const route of routes) {
    if (owned.get(route.name)?.skip === 'all') continue;
    const on = policies.get(route.name);
    const add = (who: string): void => {
      problems.push({
        file: limits.file,
        path: 'policies',
        found: `no enforcing policy on route ${route.name} for ${who}`,
        allowed: 'at least one policy for them that is not shadow',
      });
    };
    if (!covers(on?.anonymous ?? [], { who: '', tenant: undefined, tier: undefined }))
      add('anonymous callers, such as an address that sends no credentials');
    if (countsAddresses(route)) continue;
    const bare = identified.find((someone) => !covers(on?.identified ?? [], someone));
    if (bare !== undefined) add(bare.who);
  }
  return problems;
}

function covers(policies: readonly PolicyOnRoute[], { tenant, tier }: Someone): boolean {
  return policies.some((policy) => !policy.limitFor(tenant, tier).shadow);
}

/** One caller for each case that selectors and tiers can tell apart. */
function everyKindOfCaller(limits: LimitsDocument): readonly Someone[] {
  const selected = limits.policies.flatMap((policy) => policy.limits);
  const tiers = new Set([...(limits.tenants?.values() ?? [])].map(({ tier }) => tier).concat(selected.flatMap(({ tier }) => tier ?? [])));
  const tenants = new Set(selected.flatMap(({ tenant }) => tenant ?? []));
  return [
    { who: 'identified callers of no tier, such as a tenant that the document does not name', tenant: '', tier: undefined },
    ...[...tiers].map((tier) => ({ who: `callers of tier ${tier}${example(limits, tier)}`, tenant: '', tier })),
    ...[...tenants].map((tenant) => ({ who: `tenant ${tenant}`, tenant, tier: limits.tenants?.get(tenant)?.tier })),
  ];
}

function example(limits: LimitsDocument, tier: string): string {
  const [tenant] = [...(limits.tenants ?? [])].find(([, options]) => options.tier === tier) ?? [];
  return tenant === undefined ? '' : `, such as tenant ${tenant}`;
}
