import type { Limit } from './limits/limit.js';
import type { PartitionName } from './model.js';

/** One policy's limit in one case. The object is the same for the same policy and limit, so callers may cache by it. */
export interface AppliedPolicy {
  readonly policy: string;
  readonly limit: Limit;
  readonly shadow: boolean;
  /** What the limit is for: e.g. `tier=free, route=search`, or `default`. */
  readonly selector: string;
  readonly per: readonly PartitionName[];
  /** Behind the partition's key, where the policy counts together what this limit's selector tells apart. */
  readonly keySuffix: string;
}

export interface Selector {
  readonly tenant?: string | undefined;
  readonly tier?: string | undefined;
  readonly route?: string | undefined;
}

/** A limit and its selector, compiled. */
export interface Candidate extends Selector {
  readonly applied: AppliedPolicy;
}

/** From the most specific case to the default. */
const ORDER: readonly ((candidate: Candidate) => boolean)[] = [
  ({ tenant, route }) => tenant !== undefined && route !== undefined,
  ({ tier, route }) => tier !== undefined && route !== undefined,
  ({ tenant }) => tenant !== undefined,
  ({ route, tier, tenant }) => route !== undefined && tier === undefined && tenant === undefined,
  ({ tier }) => tier !== undefined,
  () => true,
];

export function bySpecificity(candidates: readonly Candidate[]): readonly Candidate[] {
  const rank = (candidate: Candidate): number => ORDER.findIndex((matches) => matches(candidate));
  return candidates
    .map((candidate) => ({ candidate, rank: rank(candidate) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate }) => candidate);
}

export function selects({ tenant, tier, route }: Selector, given: Selector): boolean {
  return (
    (tenant === undefined || tenant === given.tenant) &&
    (tier === undefined || tier === given.tier) &&
    (route === undefined || route === given.route)
  );
}

/** The limits of one policy on one route, laid out for look-up. */
export class PolicyOnRoute {
  private readonly byTenantHere: ReadonlyMap<string, AppliedPolicy> | undefined;
  private readonly byTierHere: ReadonlyMap<string, AppliedPolicy> | undefined;
  private readonly byTenant: ReadonlyMap<string, AppliedPolicy> | undefined;
  private readonly here: AppliedPolicy | undefined;
  private readonly byTier: ReadonlyMap<string, AppliedPolicy> | undefined;
  private readonly otherwise: AppliedPolicy;

  constructor(
    readonly name: string,
    readonly per: readonly PartitionName[],
    candidates: readonly Candidate[],
    route: string,
  ) {
    const here = candidates.filter((candidate) => candidate.route === route);
    const anywhere = candidates.filter((candidate) => candidate.route === undefined);
    this.byTenantHere = index(here, 'tenant');
    this.byTierHere = index(here, 'tier');
    this.byTenant = index(anywhere, 'tenant');
    this.byTier = index(anywhere, 'tier');
    const general = (of: readonly Candidate[]): AppliedPolicy | undefined =>
      of.find(({ tenant, tier }) => tenant === undefined && tier === undefined)?.applied;
    this.here = general(here);
    const otherwise = general(anywhere);
    if (otherwise === undefined) throw new Error(`policy ${name} has no default`);
    this.otherwise = otherwise;
  }

  /** The most specific limit: tenant and route, tier and route, tenant, route, tier, default. */
  limitFor(tenant: string | undefined, tier: string | undefined): AppliedPolicy {
    let found: AppliedPolicy | undefined;
    if (tenant !== undefined) found = this.byTenantHere?.get(tenant);
    if (found === undefined && tier !== undefined) found = this.byTierHere?.get(tier);
    if (found === undefined && tenant !== undefined) found = this.byTenant?.get(tenant);
    found ??= this.here;
    if (found === undefined && tier !== undefined) found = this.byTier?.get(tier);
    return found ?? this.otherwise;
  }
}

function index(candidates: readonly Candidate[], by: 'tenant' | 'tier'): ReadonlyMap<string, AppliedPolicy> | undefined {
  const entries = candidates.flatMap((candidate) => {
    const name = candidate[by];
    return name === undefined ? [] : [[name, candidate.applied] as const];
  });
  return entries.length === 0 ? undefined : new Map(entries);
}
