import type { RoutePolicies } from './compile-policies.js';
import type { EdgeConfig } from './edge-config.js';
import { explain, type ExplainQuery, type Explanation } from './explain.js';
import { Matcher } from './matcher.js';
import { METHODS, type Route, type Subject } from './model.js';
import { partitionKey } from './partition.js';
import type { AppliedPolicy } from './policies.js';

/** One policy as it applies to one request. */
export interface AppliedCheck {
  readonly applied: AppliedPolicy;
  readonly key: string;
}

const NONE: readonly AppliedCheck[] = [];

/** Both documents as one immutable snapshot, laid out for the request path. */
export class Rules {
  private readonly matcher: Matcher<Route>;

  constructor(
    readonly revision: number,
    readonly edge: EdgeConfig,
    readonly routes: ReadonlyMap<string, Route>,
    private readonly tiers: ReadonlyMap<string, string>,
    private readonly policies: ReadonlyMap<string, RoutePolicies>,
  ) {
    this.matcher = new Matcher([...routes.values()].filter((route) => route.upstream !== undefined));
  }

  /** The route of the edge document that takes this request; undefined where none does. */
  match(method: string, canonicalPath: string): Route | undefined {
    return this.matcher.match(method, canonicalPath);
  }

  /** Methods for which there is a route at this path; empty where there is none for any. */
  methodsAt(canonicalPath: string): readonly string[] {
    return METHODS.filter((method) => this.matcher.match(method, canonicalPath) !== undefined);
  }

  tierOf(tenant: string): string | undefined {
    return this.tiers.get(tenant);
  }

  /** Every policy that limits this subject on this route, with its most specific limit and its key. Unlimited ones are left out. */
  resolve(route: Route, subject: Subject): readonly AppliedCheck[] {
    const onRoute = this.policies.get(route.name);
    if (onRoute === undefined) return NONE;
    const { tenant } = subject;
    const tier = tenant === undefined ? undefined : this.tiers.get(tenant);
    const policies = tenant === undefined ? onRoute.anonymous : onRoute.identified;
    const checks: AppliedCheck[] = [];
    for (const policy of policies) {
      const applied = policy.limitFor(tenant, tier);
      if (applied.limit.kind === 'unlimited') continue;
      checks.push({ applied, key: partitionKey(policy.name, policy.per, subject, route.name) + applied.keySuffix });
    }
    return checks;
  }

  /** Which limit of each policy applies to a caller on a route, and why. @throws Error for an unknown route */
  explain(query: ExplainQuery): Explanation {
    return explain(this, query);
  }

  /** For explanations and checks: everything that could apply on a route. */
  policiesOn(route: string): RoutePolicies | undefined {
    return this.policies.get(route);
  }
}
