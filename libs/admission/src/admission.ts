import { StoreFault, type AdmitReply, type BucketStore, type Check } from '#libs/rate-limiter';
import type { AppliedCheck, Route, Rules, Subject } from '#libs/rules';
import { allowed, byPolicies, toPolicyVerdicts, unavailable } from './decisions.js';
import type { Decision, PolicyVerdict } from './decision.js';
import { fits, toChecks, toLocalChecks } from './checks.js';

export interface AdmissionRequest {
  readonly route: Route;
  readonly subject: Subject;
  /** Whole units, at least 1. */
  readonly cost: number;
}

export interface AdmissionOptions {
  /** The rules in force; asked once per request, so a swap takes effect between requests. */
  readonly rules: () => Rules;
  readonly store: BucketStore;
  /** Stands in for the store on routes whose failure mode is `local`; its state outlives the store's faults. */
  readonly local: BucketStore;
  readonly onFault: (fault: StoreFault, route: Route) => void;
  readonly onHealed: (count: number) => void;
}

/**
 * Decides whether a request may pass. All policies that apply are asked together and spent all or none; where the store
 * gives no answer, the route's failure mode does. Never throws for a refusal or a store fault: both are decisions.
 */
export class Admission {
  constructor(private readonly options: AdmissionOptions) {}

  /** Synchronous with a store in memory. */
  admit(request: AdmissionRequest): Decision | Promise<Decision> {
    const rules = this.options.rules();
    const applied = rules.resolve(request.route, request.subject);
    if (applied.length === 0) return allowed(request, rules.revision, false);
    const checks = toChecks(applied, request.cost);
    let reply: AdmitReply | Promise<AdmitReply>;
    try {
      reply = this.options.store.admit(checks);
    } catch (error) {
      return this.withoutStore(error, request, applied, rules);
    }
    if (!(reply instanceof Promise)) return this.settle(reply, request, applied, rules);
    return reply.then(
      (answer) => this.settle(answer, request, applied, rules),
      (error: unknown) => this.withoutStore(error, request, applied, rules),
    );
  }

  /** What a caller has left on a route, without spending. @throws StoreFault */
  async peek(route: Route, subject: Subject): Promise<readonly (PolicyVerdict & { readonly key: string })[]> {
    const applied = this.options.rules().resolve(route, subject);
    if (applied.length === 0) return [];
    const reply = await this.options.store.admit(toChecks(applied, 0));
    return toPolicyVerdicts(applied, reply).map((verdict, i) => ({ ...verdict, key: applied[i]?.key ?? '' }));
  }

  /** Forgets what a caller has used on a route, of one policy or of all. Resolves to the keys. @throws StoreFault */
  async reset(route: Route, subject: Subject, policy?: string): Promise<readonly string[]> {
    const applied = this.options.rules().resolve(route, subject);
    const keys = applied.filter((check) => policy === undefined || check.applied.policy === policy).map((check) => check.key);
    await this.options.store.reset(keys);
    return keys;
  }

  private settle(reply: AdmitReply, request: AdmissionRequest, applied: readonly AppliedCheck[], rules: Rules): Decision {
    if (reply.healed > 0) this.options.onHealed(reply.healed);
    return byPolicies(request, applied, reply, rules.revision, 'store');
  }

  private withoutStore(
    error: unknown,
    request: AdmissionRequest,
    applied: readonly AppliedCheck[],
    rules: Rules,
  ): Decision | Promise<Decision> {
    if (!(error instanceof StoreFault)) throw error;
    this.options.onFault(error, request.route);
    switch (request.route.failureMode) {
      case 'open':
        return allowed(request, rules.revision, true);
      case 'closed':
        return unavailable(request, rules.revision);
      case 'local': {
        const checks: readonly Check[] = toLocalChecks(applied, request.cost, rules.edge.localGateways);
        return Promise.resolve(this.options.local.admit(checks)).then((reply) => {
          const decision = byPolicies(request, applied, reply, rules.revision, 'local-fallback');
          // What only this gateway's share has no room for would pass with the store: it is worth coming back.
          if (decision.reason === 'cost-exceeds-limit' && fits(request.cost, applied)) return unavailable(request, rules.revision);
          return decision;
        });
      }
    }
  }
}
