import type { Callers, PartitionName } from './model.js';

interface Audience {
  readonly per: readonly PartitionName[];
  readonly callers?: Callers | undefined;
}

const byIdentity = (per: readonly PartitionName[]): boolean =>
  per.some((name) => name === 'tenant' || name === 'user' || name === 'apiKey');

/** Whom a policy is for where it does not say: per identity for identified callers, per address for anonymous ones, else for all. */
export function callersOf({ per, callers }: Audience): Callers {
  if (callers !== undefined) return callers;
  if (byIdentity(per)) return 'identified';
  return per.includes('ip') ? 'anonymous' : 'all';
}

export function appliesTo(policy: Audience, identified: boolean): boolean {
  const callers = callersOf(policy);
  return callers === 'all' || (callers === 'identified') === identified;
}

/** Whether anonymous callers make keys of this policy: then their number must be bounded by a short life. */
export function reachesAnonymous(policy: Audience): boolean {
  return callersOf(policy) !== 'identified' && (policy.per.includes('ip') || byIdentity(policy.per));
}
