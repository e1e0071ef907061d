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
    });
    checkSelectors(policy.limits, ['policies', i, 'limits'], findings);
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

const SELECTORS = 'default: true alone, or tenant, tier, route, tenant with route, tier with route';

function checkSelectors(limits: readonly SelectedLimit[], at: Path, findings: Findings): void {
  const places = new Map<string, number>();
  limits.forEach((limit, j) => {
    const selector = selectorText(limit);
    const named = [limit.tenant, limit.tier, limit.route].some((name) => name !== undefined);
    if ((limit.default === true) === named || (limit.tenant !== undefined && limit.tier !== undefined))
      findings.add([...at, j], selector, SELECTORS);
    const key = selectorKey(limit);
    const before = places.get(key);
    if (before === undefined) places.set(key, j);
    else findings.add([...at, j], `the selector ${selector}`, `a selector of its own; ${pathText([...at, before])} has it already`);
  });
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
