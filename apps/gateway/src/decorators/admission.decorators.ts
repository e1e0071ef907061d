import { SetMetadata } from '@nestjs/common';
import type {
  Criticality as CriticalityClass,
  FailureMode as StoreFailureMode,
  LimitOptions,
  OwnedPolicy,
  PartitionName,
} from '#libs/rules';

/** Keys of the metadata that the edge reads when it starts. */
export const EDGE_METADATA = {
  rateLimits: Symbol('esclusa:rate-limits'),
  cost: Symbol('esclusa:cost'),
  criticality: Symbol('esclusa:criticality'),
  failureMode: Symbol('esclusa:failure-mode'),
  skip: Symbol('esclusa:skip-admission'),
} as const;

type Decorator = ClassDecorator & MethodDecorator;

/**
 * Limits a controller or one of its methods by a policy called `name`. Several may be stacked. The limits document's policy
 * of that name wins over a method's decorator, which wins over its class's.
 * @param limit as in the limits document, e.g. `{ tokenBucket: { capacity: 10, refillPerSecond: 5 } }`
 * @param options `per`: what is counted, `['tenant', 'route']` by default; anonymous callers are counted by address
 * @example `@RateLimit('exports', { tokenBucket: { capacity: 2, refillPerSecond: '1/60' } })`
 */
export function RateLimit(name: string, limit: LimitOptions, options: { readonly per?: readonly PartitionName[] } = {}): Decorator {
  return ((target: object, _property?: string | symbol, descriptor?: PropertyDescriptor) => {
    const holder = (descriptor?.value as object | undefined) ?? target;
    // Own metadata only: a class's list must not grow into its parent's.
    const stacked = (Reflect.getOwnMetadata(EDGE_METADATA.rateLimits, holder) ?? []) as readonly OwnedPolicy[];
    Reflect.defineMetadata(EDGE_METADATA.rateLimits, [{ name, limit, ...options }, ...stacked], holder);
    return descriptor ?? undefined;
  }) as Decorator;
}

/** What a request of this kind costs its policies, in whole units; a function sees the request (Fastify's) before its body. */
export type CostOf<Request = unknown> = number | ((request: Request) => number);

/** The cost of a request, 1 by default. A function that returns anything but an integer of at least 1 is a fault (500). */
export const Cost = <Request = unknown>(cost: CostOf<Request>): Decorator => SetMetadata(EDGE_METADATA.cost, cost);

/** Who goes first when the edge is short; `sheddable` by default. */
export const Criticality = (criticality: CriticalityClass): Decorator => SetMetadata(EDGE_METADATA.criticality, criticality);

/** What happens without a store: `open` (default), `closed` or `local`. */
export const FailureMode = (failureMode: StoreFailureMode): Decorator => SetMetadata(EDGE_METADATA.failureMode, failureMode);

/**
 * Takes a controller or method out of admission: wholly; or of the named policies only; or of all but some.
 * @example `@SkipAdmission()`, `@SkipAdmission('daily')`, `@SkipAdmission({ except: ['per-address'] })`
 */
export function SkipAdmission(...what: readonly (string | { readonly except: readonly string[] })[]): Decorator {
  const names = what.filter((name): name is string => typeof name === 'string');
  const exception = what.find((one) => typeof one !== 'string');
  return SetMetadata(EDGE_METADATA.skip, exception ?? (names.length === 0 ? 'all' : { names }));
}
