import { appliesTo, callersOf } from './applies.js';
import { selectorText } from './documents/check-limits.js';
import { limitProblem } from './documents/check-decorator.js';
import type { LimitsDocument } from './documents/limits-document.js';
import { DocumentError } from './documents/problem.js';
import { toLimit } from './limits/limit.js';
import type { Callers, PartitionName, Route } from './model.js';
import { skips, type OwnedPolicy, type OwnedRoute } from './owned.js';
import { selectionSuffix } from './partition.js';
import { bySpecificity, PolicyOnRoute, type Candidate } from './policies.js';

/** A policy, compiled once for all routes. */
export interface CompiledPolicy {
  readonly name: string;
  readonly per: readonly PartitionName[];
  readonly callers: Callers;
  readonly routes: ReadonlySet<string> | undefined;
  /** Most specific first. */
  readonly candidates: readonly Candidate[];
}

/** What applies on one route. */
export interface RoutePolicies {
  readonly compiled: readonly CompiledPolicy[];
  readonly identified: readonly PolicyOnRoute[];
  readonly anonymous: readonly PolicyOnRoute[];
}

export function compileDocumentPolicies(limits: LimitsDocument): readonly CompiledPolicy[] {
  return limits.policies.map((policy) => ({
    name: policy.name,
    per: policy.per,
    callers: callersOf(policy),
    routes: policy.routes === undefined ? undefined : new Set(policy.routes),
    candidates: bySpecificity(
      policy.limits.map((limit) => ({
        tenant: limit.tenant,
        tier: limit.tier,
        route: limit.route,
        applied: {
          policy: policy.name,
          limit: toLimit(limit),
          shadow: limit.shadow ?? policy.shadow ?? false,
          selector: selectorText(limit),
          per: policy.per,
          keySuffix: selectionSuffix(policy.per, limit),
        },
      })),
    ),
  }));
}

/** The document's policies that apply on a route, and the decorators' whose names the document does not use there. */
export function policiesOn(route: Route, owned: OwnedRoute | undefined, document: readonly CompiledPolicy[]): RoutePolicies {
  const fromDocument = document.filter(({ routes }) => routes === undefined || routes.has(route.name));
  const taken = new Set(fromDocument.map(({ name }) => name));
  const fromDecorators = (owned?.policies ?? []).filter(({ name }) => !taken.has(name)).map((policy) => compileOwned(policy, route));
  const compiled = [...fromDocument, ...fromDecorators].filter(({ name }) => !skips(owned?.skip, name));
  const on = (identified: boolean): PolicyOnRoute[] =>
    compiled
      .filter((policy) => appliesTo(policy, identified))
      .map((policy) => new PolicyOnRoute(policy.name, policy.per, policy.candidates, route.name));
  return { compiled, identified: on(true), anonymous: on(false) };
}

/** @throws DocumentError that names the route and the decorator. */
function compileOwned(policy: OwnedPolicy, route: Route): CompiledPolicy {
  const per = policy.per ?? ['tenant', 'route'];
  const problem = limitProblem(policy, per);
  if (problem !== undefined) throw new DocumentError([{ file: `@RateLimit on ${route.name}`, path: policy.name, ...problem }]);
  const applied = { policy: policy.name, limit: toLimit(policy.limit), shadow: false, selector: 'default', per, keySuffix: '' };
  return { name: policy.name, per, callers: 'all', routes: undefined, candidates: [{ applied }] };
}
