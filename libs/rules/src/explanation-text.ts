import { countsAddresses, type ExplainedPolicy, type Explanation } from './explain.js';
import type { Limit } from './limits/limit.js';
import type { Route } from './model.js';
import type { AppliedPolicy } from './policies.js';

/** An explanation as lines for people. */
export function explanationText(explanation: Explanation): string {
  const { route, policies } = explanation;
  return [`route ${route.name} (${routeText(route)}), ${callerText(explanation)}`, ...policies.flatMap(policyLines)].join('\n');
}

function routeText(route: Route): string {
  return `${route.methods?.join('|') ?? 'any method'} ${route.path}, cost ${route.cost}, failure mode ${route.failureMode}`;
}

function callerText({ route, identified, tenant, tier }: Explanation): string {
  if (countsAddresses(route)) return 'where every caller is counted as an anonymous address';
  if (!identified) return 'an anonymous caller';
  return `tenant ${tenant ?? '(any)'}${tier === undefined ? ', no tier' : `, tier ${tier}`}`;
}

function policyLines({ policy, callers, applies, candidates, key }: ExplainedPolicy): readonly string[] {
  if (!applies) return [`  ${policy}: does not apply, it is for ${callers} callers`];
  const [won = 'nothing', ...others] = candidates.map(candidateText);
  return [`  ${policy}: ${won}`, ...others.map((other) => `      over ${other}`), `      counted in ${key}`];
}

function candidateText({ limit, selector, shadow }: AppliedPolicy): string {
  return `${limitText(limit)} by ${selector}${shadow ? ', shadow' : ''}`;
}

function limitText(limit: Limit): string {
  if (limit.kind === 'unlimited') return 'unlimited';
  const rate = limit.refillSeconds === 1 ? `${limit.refillTokens} a second` : `${limit.refillTokens} every ${limit.refillSeconds} s`;
  return `a bucket of ${limit.capacity}, refilled by ${rate}`;
}
