import { SetMetadata } from '@nestjs/common';

/** Marks the edge's built-in controllers: `proxy` takes what the route table names, `rate-limit` tells callers their budgets. */
export const BUILT_IN = Symbol('esclusa:built-in');
export type BuiltInKind = 'proxy' | 'rate-limit';
export const BuiltIn = (kind: BuiltInKind): ClassDecorator => SetMetadata(BUILT_IN, kind);
