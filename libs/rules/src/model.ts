/** The words of the rules, resolved: readonly, no optionals. */

export const CRITICALITIES = ['critical-plus', 'critical', 'sheddable-plus', 'sheddable'] as const;
export type Criticality = (typeof CRITICALITIES)[number];

export const FAILURE_MODES = ['open', 'closed', 'local'] as const;
export type FailureMode = (typeof FAILURE_MODES)[number];

/** Methods that a route may name. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export const PARTITION_NAMES = ['tenant', 'user', 'apiKey', 'ip', 'route'] as const;
export type PartitionName = (typeof PARTITION_NAMES)[number];

export const CALLERS = ['identified', 'anonymous', 'all'] as const;
/** Whom a policy is for. */
export type Callers = (typeof CALLERS)[number];

/** The built-in route of what no route of the edge document matches. */
export const UNMATCHED_ROUTE = 'unmatched';
/** The built-in route of `GET /rate-limit`. */
export const RATE_LIMIT_ROUTE = 'rate-limit';

export interface Route {
  readonly name: string;
  /** Undefined: all. A route that takes GET takes HEAD. */
  readonly methods: readonly string[] | undefined;
  readonly path: string;
  /** Undefined: the edge answers itself. */
  readonly upstream: string | undefined;
  readonly criticality: Criticality;
  readonly failureMode: FailureMode;
  readonly cost: number;
  readonly auth: 'optional' | 'required';
  /** From arrival to the end of the answer; undefined: as long as its upstream's timeouts let it. */
  readonly deadlineMs: number | undefined;
  /** Protocols of the Upgrade field that a connection may be handed over to, lower case. */
  readonly upgrades: readonly string[];
  /** Refuse a path that is not written canonically, or has parameters. */
  readonly strictPath: boolean;
}

/** Who asks: without a tenant, an anonymous address. `ip` in partition form. */
export interface Subject {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly ip: string;
}
