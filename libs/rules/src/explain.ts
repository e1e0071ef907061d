import { RATE_LIMIT_ROUTE, UNMATCHED_ROUTE, type Callers, type Route } from './model.js';
import { partitionKey } from './partition.js';
import { selects, type AppliedPolicy } from './policies.js';
import type { Rules } from './rules.js';

export interface ExplainQuery {
  readonly route: string;
  /** Without tenant and tier: an anonymous caller. */
  readonly tenant?: string | undefined;
  /** Instead of the tenant's own; alone, any tenant of this tier. */
  readonly tier?: string | undefined;
  readonly user?: string | undefined;
  /** An anonymous caller, whatever else is given. */
  readonly anonymous?: boolean | undefined;
}

/** Which limit of each policy applies to a caller on a route, and why. */
export interface Explanation {
  readonly route: Route;
  readonly identified: boolean;
  readonly tenant: string | undefined;
  readonly tier: string | undefined;
  readonly policies: readonly ExplainedPolicy[];
}

export interface ExplainedPolicy {
  readonly policy: string;
  /** Whom the policy is for; it applies where that includes the caller. */
  readonly callers: Callers;
  readonly applies: boolean;
  /** All limits whose selectors fit the caller, most specific first: the first one applies. */
  readonly candidates: readonly AppliedPolicy[];
  /** Where it is counted; parts that the query does not tell stand as TENANT and ADDRESS. */
  readonly key: string;
}

/** @throws Error for an unknown route */
export function explain(rules: Pick<Rules, 'routes' | 'tierOf' | 'policiesOn'>, query: ExplainQuery): Explanation {
  const route = rules.routes.get(query.route);
  const on = rules.policiesOn(query.route);
  if (route === undefined || on === undefined)
    throw new Error(`no route is called ${query.route}; routes: ${[...rules.routes.keys()].join(', ')}`);
  const identified = !countsAddresses(route) && query.anonymous !== true && (query.tenant !== undefined || query.tier !== undefined);
  const tenant = identified ? query.tenant : undefined;
  const tier = identified ? (query.tier ?? (tenant === undefined ? undefined : rules.tierOf(tenant))) : undefined;
  const applying = new Set((identified ? on.identified : on.anonymous).map(({ name }) => name));
  const subject = { tenant: identified ? (tenant ?? 'TENANT') : undefined, user: identified ? query.user : undefined, ip: 'ADDRESS' };
  return {
    route,
    identified,
    tenant,
    tier,
    policies: on.compiled.map(({ name, per, callers, candidates }) => {
      const fitting = candidates.filter((one) => selects(one, { tenant, tier, route: route.name })).map(({ applied }) => applied);
      const key = partitionKey(name, per, subject, route.name) + (fitting[0]?.keySuffix ?? '');
      return { policy: name, callers, applies: applying.has(name), candidates: fitting, key };
    }),
  };
}

/** The built-in routes know no identity: whoever asks is counted by address. */
export function countsAddresses({ name }: Route): boolean {
  return name === UNMATCHED_ROUTE || name === RATE_LIMIT_ROUTE;
}
