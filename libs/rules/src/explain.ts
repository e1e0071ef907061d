import type { Limit } from './limits/limit.js';
import type { Route } from './model.js';
import { partitionKey } from './partition.js';
import { selects, type Candidate } from './policies.js';
import type { Rules } from './rules.js';

export interface ExplainQuery {
  readonly route: string;
  /** Undefined: an anonymous caller. */
  readonly tenant?: string | undefined;
  /** Instead of the tenant's own. */
  readonly tier?: string | undefined;
  readonly user?: string | undefined;
}

/** Which limit of each policy applies to a caller on a route, and why, as text. @throws Error for an unknown route */
export function explain(rules: Rules, query: ExplainQuery): string {
  const route = rules.routes.get(query.route);
  const on = rules.policiesOn(query.route);
  if (route === undefined || on === undefined)
    throw new Error(`no route is called ${query.route}; routes: ${[...rules.routes.keys()].join(', ')}`);
  const tier = query.tier ?? (query.tenant === undefined ? undefined : rules.tierOf(query.tenant));
  const identified = query.tenant !== undefined || query.tier !== undefined;
  const applying = new Set((identified ? on.identified : on.anonymous).map(({ name }) => name));
  const who = identified
    ? `tenant ${query.tenant ?? '(any)'}${tier === undefined ? ', no tier' : `, tier ${tier}`}`
    : 'an anonymous caller';
  const lines = [`route ${route.name} (${describeRoute(route)}), ${who}`];
  for (const policy of on.compiled) {
    if (!applying.has(policy.name)) {
      lines.push(`  ${policy.name}: does not apply, it is for ${policy.callers} callers`);
      continue;
    }
    const given = { tenant: query.tenant, tier, route: route.name };
    const matching = policy.candidates.filter((candidate) => selects(candidate, given));
    const key = partitionKey(
      policy.name,
      policy.per,
      { tenant: identified ? (query.tenant ?? 'TENANT') : undefined, user: query.user, ip: 'ADDRESS' },
      route.name,
    );
    lines.push(`  ${policy.name}: ${describeCandidate(matching[0])}`);
    for (const other of matching.slice(1)) lines.push(`      over ${describeCandidate(other)}`);
    lines.push(`      counted in ${key}`);
  }
  return lines.join('\n');
}

function describeRoute(route: Route): string {
  return `${route.methods?.join('|') ?? 'any method'} ${route.path}, cost ${route.cost}, failure mode ${route.failureMode}`;
}

function describeCandidate(candidate: Candidate | undefined): string {
  if (candidate === undefined) return 'nothing';
  const { applied } = candidate;
  return `${describeLimit(applied.limit)} by ${applied.selector}${applied.shadow ? ', shadow' : ''}`;
}

function describeLimit(limit: Limit): string {
  if (limit.kind === 'unlimited') return 'unlimited';
  const rate = limit.refillSeconds === 1 ? `${limit.refillTokens} a second` : `${limit.refillTokens} every ${limit.refillSeconds} s`;
  return `a bucket of ${limit.capacity}, refilled by ${rate}`;
}
