import type { LimitOptions } from './limits/limit.js';
import type { PartitionName, Route } from './model.js';

/** A policy that a decorator declares: per tenant and route unless it says otherwise, for all callers. */
export interface OwnedPolicy {
  readonly name: string;
  readonly limit: LimitOptions;
  readonly per?: readonly PartitionName[];
}

export type Skip = 'all' | { readonly names: readonly string[] } | { readonly except: readonly string[] };

/** A route of a controller that the edge owns. */
export interface OwnedRoute {
  readonly route: Route;
  readonly policies: readonly OwnedPolicy[];
  /** Policies that this route is out of, whoever declared them. */
  readonly skip: Skip | undefined;
}

export function skips(skip: Skip | undefined, policy: string): boolean {
  if (skip === undefined) return false;
  if (skip === 'all') return true;
  return 'names' in skip ? skip.names.includes(policy) : !skip.except.includes(policy);
}
