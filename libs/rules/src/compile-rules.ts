import { isDeepStrictEqual } from 'node:util';
import { compileDocumentPolicies, policiesOn, type CompiledPolicy, type RoutePolicies } from './compile-policies.js';
import { uncovered } from './coverage.js';
import { withHead } from './documents/check-edge.js';
import type { EdgeDocument, RouteOptions } from './documents/edge-document.js';
import type { LimitsDocument } from './documents/limits-document.js';
import { DocumentError, show, type Problem } from './documents/problem.js';
import { toEdgeConfig } from './edge-config.js';
import { RATE_LIMIT_ROUTE, UNMATCHED_ROUTE, type Route } from './model.js';
import type { OwnedRoute } from './owned.js';
import { Rules } from './rules.js';

/** Of routes that the edge answers itself. */
export const NOT_FORWARDED = { upstream: undefined, deadlineMs: undefined, upgrades: [], strictPath: false } as const;

const builtIn = (name: string, path: string): Route => ({
  name,
  methods: name === RATE_LIMIT_ROUTE ? ['GET', 'HEAD'] : undefined,
  path,
  criticality: 'sheddable',
  failureMode: 'open',
  cost: 1,
  auth: 'optional',
  ...NOT_FORWARDED,
});

/**
 * Joins both documents and what the edge's own controllers declare.
 * @param controllers undefined where they are not known, as in tools: names such as `POST /exports` are then taken on trust
 * @throws DocumentError where one names what the other lacks, or where any caller on any route would be without an enforcing policy
 */
export function compileRules(edge: EdgeDocument, limits: LimitsDocument, controllers: readonly OwnedRoute[] | undefined): Rules {
  const owned = controllers ?? [];
  const routes = new Map<string, Route>([
    ...edge.routes.map((route) => [route.name, toRoute(route)] as const),
    ...owned.map(({ route }) => [route.name, route] as const),
    [UNMATCHED_ROUTE, builtIn(UNMATCHED_ROUTE, '*')],
    [RATE_LIMIT_ROUTE, builtIn(RATE_LIMIT_ROUTE, '/rate-limit')],
  ]);
  const twice = owned.find(({ route }, i) => owned.findIndex((other) => other.route.name === route.name) < i);
  if (twice !== undefined) {
    const path = twice.route.name;
    throw new DocumentError([{ file: 'controllers', path, found: 'two handlers', allowed: 'one handler for each method and path' }]);
  }
  const unknown = unknownRoutes(limits, routes, controllers === undefined);
  if (unknown.length > 0) throw new DocumentError(unknown);
  const ownedByName = new Map(owned.map((one) => [one.route.name, one]));
  const document = compileDocumentPolicies(limits);
  const policies = new Map([...routes.values()].map((route) => [route.name, policiesOn(route, ownedByName.get(route.name), document)]));
  const crossed = twoLimitsInOneBucket(policies);
  if (crossed.length > 0) throw new DocumentError(crossed);
  const bare = uncovered(limits, routes.values(), ownedByName, policies);
  if (bare.length > 0) throw new DocumentError(bare);
  const tiers = new Map([...(limits.tenants ?? [])].map(([tenant, { tier }]) => [tenant, tier]));
  return new Rules(limits.revision ?? 0, toEdgeConfig(edge), routes, tiers, policies);
}

function toRoute({ methods, deadlineMs, upgrades = [], ...route }: RouteOptions): Route {
  return { ...route, methods: methods && withHead(methods), deadlineMs, upgrades };
}

/** How routes of controllers are called: `METHOD /path`, with a version where there is one. */
const OWNED_NAME = /^[A-Z]+(@v\S+)? \//;

/** A limit for a route that does not exist would never apply: most likely a slip of the pen. */
function unknownRoutes(limits: LimitsDocument, routes: ReadonlyMap<string, Route>, controllersUnknown: boolean): readonly Problem[] {
  const allowed = `a route of the edge: ${[...routes.keys()].join(', ')}`;
  const problems: Problem[] = [];
  const check = (name: string | undefined, path: string): void => {
    if (name !== undefined && !routes.has(name) && !(controllersUnknown && OWNED_NAME.test(name)))
      problems.push({ file: limits.file, path, found: show(name), allowed });
  };
  limits.policies.forEach((policy, i) => {
    policy.routes?.forEach((name, j) => {
      check(name, `policies[${i}].routes[${j}]`);
    });
    policy.limits.forEach((limit, j) => {
      check(limit.route, `policies[${i}].limits[${j}].route`);
    });
  });
  return problems;
}

/** Decorators may give a policy's name to another limit on each route; then its routes must be counted apart. */
function twoLimitsInOneBucket(policies: ReadonlyMap<string, RoutePolicies>): readonly Problem[] {
  const first = new Map<string, { readonly policy: CompiledPolicy; readonly route: string }>();
  const problems: Problem[] = [];
  for (const [route, { compiled }] of policies) {
    for (const policy of compiled.filter(({ per }) => !per.includes('route'))) {
      const other = first.get(policy.name);
      if (other === undefined) first.set(policy.name, { policy, route });
      else if (other.policy !== policy && !isDeepStrictEqual(other.policy.candidates, policy.candidates))
        problems.push({
          file: `@RateLimit on ${route}`,
          path: policy.name,
          found: `another limit than on ${other.route}, counted in the same place`,
          allowed: 'the same limit on both, or `per` with route',
        });
    }
  }
  return problems;
}
