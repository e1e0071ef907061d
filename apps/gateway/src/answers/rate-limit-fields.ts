import { isViolated, type Decision, type PolicyVerdict } from '#libs/admission';
import type { AppliedPolicy, TokenBucketLimit } from '#libs/rules';

/** How budgets are told: the deployed draft syntax, the newer draft's, GitHub's `x-ratelimit-*`, or not at all. */
export const RATE_LIMIT_DIALECTS = ['draft-11', 'draft-12', 'github', 'off'] as const;
export type RateLimitDialect = (typeof RATE_LIMIT_DIALECTS)[number];

/** Field names and values in turn, as `writeHead` takes them. */
export type FlatFields = readonly string[];

const NONE: FlatFields = [];

/** The largest integer that a structured field may carry (RFC 9651 §3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;

interface Quota {
  readonly quota: number;
  readonly windowSeconds: number;
  /** The item of `RateLimit-Policy`: the same on every response, so it is written once. */
  readonly policyItem: string;
}

const quotas = new WeakMap<AppliedPolicy, Quota>();

/** A policy as a quota per window: a bucket's window is the time it takes to fill. */
export function quotaOf(applied: AppliedPolicy): Quota {
  let quota = quotas.get(applied);
  if (quota === undefined) {
    const { capacity, refillTokens, refillSeconds } = applied.limit as TokenBucketLimit;
    const windowSeconds = clamp(Math.ceil((capacity * refillSeconds) / refillTokens), 1);
    quota = { quota: capacity, windowSeconds, policyItem: `"${applied.policy}";q=${capacity};w=${windowSeconds}` };
    quotas.set(applied, quota);
  }
  return quota;
}

/** The fields of a response to a request on a limited route; none where nothing limited it or the store gave no answer. */
export function rateLimitFields(decision: Decision, dialect: RateLimitDialect, nowMs: () => number = Date.now): FlatFields {
  if (dialect === 'off') return NONE;
  const enforced = decision.policies.filter((policy) => !policy.applied.shadow);
  const nearest = leastLeft(enforced);
  if (nearest === undefined) return NONE;
  if (dialect === 'github') return githubFields(decision, nearest, nowMs());
  const violated = decision.outcome === 'limited' ? enforced.filter(isViolated) : [];
  const states = violated.length > 0 ? violated : [nearest];
  return [
    'RateLimit-Policy',
    enforced.map((policy) => quotaOf(policy.applied).policyItem).join(', '),
    'RateLimit',
    states.map((policy) => stateItem(policy, decision, dialect)).join(', '),
  ];
}

/** The policy that runs out first in absolute terms; the first refusing one where one refuses. */
function leastLeft(policies: readonly PolicyVerdict[]): PolicyVerdict | undefined {
  let least: PolicyVerdict | undefined;
  for (const policy of policies) {
    if (least === undefined || rank(policy) < rank(least)) least = policy;
  }
  return least;
}

function rank(policy: PolicyVerdict): number {
  return policy.verdict === 'admitted' ? policy.remaining : policy.remaining - Number.MAX_SAFE_INTEGER;
}

function stateItem(policy: PolicyVerdict, decision: Decision, dialect: 'draft-11' | 'draft-12'): string {
  const seconds = effectiveWindowSeconds(policy);
  if (dialect === 'draft-11') return `"${policy.applied.policy}";r=${policy.remaining}${seconds === undefined ? '' : `;t=${seconds}`}`;
  return `"${policy.applied.policy}";a=${policy.remaining}${seconds === undefined ? '' : `;w=${seconds}`};c=${decision.cost}`;
}

/**
 * Admitted: the time over which what is left may be spent without outrunning the refill, so that a client that spreads
 * `r` over `t` is paced. Refused: when to come back. A cost that never fits has no such time.
 */
function effectiveWindowSeconds(policy: PolicyVerdict): number | undefined {
  if (policy.verdict === 'cost-exceeds-limit') return undefined;
  if (policy.verdict === 'refused') return retryAfterSeconds(policy.retryAfterMs ?? 0);
  const { refillTokens, refillSeconds } = policy.applied.limit as TokenBucketLimit;
  return clamp(Math.ceil((policy.remaining * refillSeconds) / refillTokens), 1);
}

/** Whole seconds, rounded up, at least 1: whoever waits that long is not too early. */
export function retryAfterSeconds(retryAfterMs: number): number {
  return clamp(Math.ceil(retryAfterMs / 1000), 1);
}

/** GitHub's form: the reset is an epoch second. */
function githubFields(decision: Decision, policy: PolicyVerdict, nowMs: number): FlatFields {
  const { quota } = quotaOf(policy.applied);
  const waitMs = policy.verdict === 'refused' ? (policy.retryAfterMs ?? 0) : policy.resetAfterMs;
  return [
    'x-ratelimit-limit',
    String(quota),
    'x-ratelimit-remaining',
    String(policy.remaining),
    'x-ratelimit-used',
    String(quota - policy.remaining),
    'x-ratelimit-reset',
    String(Math.ceil((nowMs + waitMs) / 1000)),
    'x-ratelimit-resource',
    decision.route.name.replace(/[^\x21-\x7e]/g, '-'),
  ];
}

function clamp(value: number, least: number): number {
  return Math.min(Math.max(value, least), MAX_INTEGER);
}
