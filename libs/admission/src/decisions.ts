import type { AdmitReply, CheckVerdict } from '#libs/rate-limiter';
import type { AppliedCheck } from '#libs/rules';
import type { AdmissionRequest } from './admission.js';
import type { Decision, PolicyVerdict, Source } from './decision.js';

/** A closed route without its store asks callers to come back this soon. */
const UNAVAILABLE_RETRY_MS = 1000;

export function allowed(request: AdmissionRequest, revision: number, source: Source): Decision {
  return { ...request, outcome: 'allowed', reason: undefined, source, degraded: false, revision, policies: [], retryAfterMs: undefined };
}

export function unavailable(request: AdmissionRequest, revision: number): Decision {
  return {
    ...request,
    outcome: 'unavailable',
    reason: 'store-unavailable',
    source: 'none',
    degraded: true,
    revision,
    policies: [],
    retryAfterMs: UNAVAILABLE_RETRY_MS,
  };
}

export function toPolicyVerdicts(applied: readonly AppliedCheck[], reply: AdmitReply): PolicyVerdict[] {
  return applied.map((check, i) => ({ applied: check.applied, ...(reply.verdicts[i] as CheckVerdict) }));
}

/** Folds the policies' verdicts into one decision. A cost that can never fit outweighs the rest: waiting does not help. */
export function byPolicies(
  request: AdmissionRequest,
  applied: readonly AppliedCheck[],
  reply: AdmitReply,
  revision: number,
  source: Source,
): Decision {
  const policies = toPolicyVerdicts(applied, reply);
  const refused = reply.admitted ? [] : policies.filter(isViolated);
  const hopeless = refused.some((policy) => policy.verdict === 'cost-exceeds-limit');
  return {
    ...request,
    outcome: reply.admitted ? 'allowed' : 'limited',
    reason: reply.admitted ? undefined : hopeless ? 'cost-exceeds-limit' : 'quota',
    source,
    degraded: source === 'local-fallback',
    revision,
    policies,
    retryAfterMs: reply.admitted || hopeless ? undefined : Math.max(...refused.map((policy) => policy.retryAfterMs ?? 0)),
  };
}

/** An enforced policy that said no. */
export function isViolated(policy: PolicyVerdict): boolean {
  return policy.verdict !== 'admitted' && !policy.applied.shadow;
}
