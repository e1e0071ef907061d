import { KINDS, LATER_KINDS, secondsToFill, toLimit, type Limit, type LimitOptions } from '../limits/limit.js';
import { reachesAnonymous } from '../applies.js';
import type { LimitsDocument, PolicyOptions, SelectedLimit } from './limits-document.js';
import { show } from './problem.js';
import { pathText, type Findings, type Path } from './findings.js';

const HUNDRED_YEARS_S = 100 * 365.25 * 86_400;
const ANONYMOUS_MAX_S = 3600;

/** What no single field can tell: kinds, selectors, defaults, lifetimes. */
export function checkLimits(document: LimitsDocument, findings: Findings): void {
  document.policies.forEach((policy, i) => {
    const before = document.policies.findIndex(({ name }) => name === policy.name);
    if (before < i) findings.add(['policies', i, 'name'], show(policy.name), `a name of its own; policies[${before}] has it already`);
    policy.limits.forEach((limit, j) => {
      checkLimit(policy, limit, ['policies', i, 'limits', j], findings);
      checkSelector(policy.limits, j, ['policies', i, 'limits', j], findings);
    });
    if (!policy.limits.some((limit) => limit.default === true)) {
      findings.add(['policies', i, 'limits'], 'no default', 'one limit with default: true, for whoever no other selector names');
    }
  });
}

function checkLimit(policy: PolicyOptions, limit: SelectedLimit, at: Path, findings: Findings): void {
  const parsed = checkKind(limit, at, findings);
  if (parsed === undefined) return;
  if (parsed.kind === 'unlimited' && limit.default === true)
    findings.add([...at, 'unlimited'], 'true', 'a limit: the default may not be unlimited');
  const seconds = secondsToFill(parsed);
  if (seconds > ANONYMOUS_MAX_S && reachesAnonymous(policy)) {
    findings.add(
      at,
      slowBucket(seconds),
      `at most ${ANONYMOUS_MAX_S} s (capacity / refillPerSecond), since anonymous callers have keys of this policy and those live an hour at most`,
    );
  }
}

/** Exactly one kind of limit, which fills in a time that can be counted. @returns undefined where it is not one kind */
export function checkKind(limit: LimitOptions, at: Path, findings: Findings): Limit | undefined {
  const kinds = KINDS.filter((kind) => limit[kind] !== undefined);
  if (kinds.length !== 1) {
    findings.add(
      at,
      kinds.length === 0 ? 'no kind of limit' : kinds.join(' and '),
      `exactly one of ${KINDS.join(', ')} (${LATER_KINDS.join(', ')} are not supported in this version)`,
    );
    return undefined;
  }
  const parsed = toLimit(limit);
  const seconds = secondsToFill(parsed);
  if (seconds > HUNDRED_YEARS_S) findings.add(at, slowBucket(seconds), 'at most a hundred years (capacity / refillPerSecond)');
  return parsed;
}

function slowBucket(seconds: number): string {
  return `a bucket that takes ${Math.round(seconds)} s to fill`;
}

function checkSelector(limits: readonly SelectedLimit[], j: number, at: Path, findings: Findings): void {
  const limit = limits[j];
  if (limit === undefined) return;
  const selector = selectorText(limit);
  const key = selectorKey(limit);
  const named = [limit.tenant, limit.tier, limit.route].some((name) => name !== undefined);
  const SELECTORS = 'default: true alone, or tenant, tier, route, tenant with route, tier with route';
  if ((limit.default === true) === named || (limit.tenant !== undefined && limit.tier !== undefined)) findings.add(at, selector, SELECTORS);
  const before = limits.findIndex((other) => selectorKey(other) === key);
  if (before < j) {
    const there = pathText([...at.slice(0, -1), before]);
    findings.add(at, `the selector ${selector}`, `a selector of its own; ${there} has it already`);
  }
}

/** Unlike the text, never the same for two selectors, whatever the names hold. */
function selectorKey({ tenant, tier, route }: SelectedLimit): string {
  return JSON.stringify([tenant, tier, route]);
}

/** E.g. `tier=free, route=search`, or `default`. */
export function selectorText(limit: Pick<SelectedLimit, 'default' | 'tenant' | 'tier' | 'route'>): string {
  const parts = (['tenant', 'tier', 'route'] as const)
    .filter((name) => limit[name] !== undefined)
    .map((name) => `${name}=${limit[name] ?? ''}`);
  return parts.length > 0 ? parts.join(', ') : 'default';
}
