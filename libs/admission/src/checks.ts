import type { BucketLimit, Check } from '#libs/rate-limiter';
import type { AppliedCheck } from '#libs/rules';

/** The limits that a store holds; unlimited policies are never asked. */
function bucketLimit(check: AppliedCheck): BucketLimit {
  const { limit } = check.applied;
  if (limit.kind === 'unlimited') throw new Error(`policy ${check.applied.policy}: an unlimited limit cannot be asked`);
  return limit;
}

export function toChecks(applied: readonly AppliedCheck[], cost: number): Check[] {
  return applied.map((check) => ({ key: check.key, limit: bucketLimit(check), cost, shadow: check.applied.shadow }));
}

/** Whether every enforced limit is wide enough for this cost, however little of it is left. */
export function fits(cost: number, applied: readonly AppliedCheck[]): boolean {
  return applied.every((check) => check.applied.shadow || cost <= bucketLimit(check).capacity);
}

const shares = new WeakMap<BucketLimit, BucketLimit>();

/**
 * One gateway's share while the store is away: half of limit / gateways, so that the whole fleet, however often the store
 * flaps, admits at most 1.5 × (capacity + rate × T). A share below one request refuses everything.
 */
function localShare(limit: BucketLimit, gateways: number): BucketLimit {
  let share = shares.get(limit);
  if (share === undefined) {
    share = { ...limit, capacity: Math.floor(limit.capacity / (2 * gateways)), refillSeconds: limit.refillSeconds * 2 * gateways };
    shares.set(limit, share);
  }
  return share;
}

export function toLocalChecks(applied: readonly AppliedCheck[], cost: number, gateways: number): Check[] {
  return toChecks(applied, cost).map((check) => ({ ...check, limit: localShare(check.limit, gateways) }));
}
