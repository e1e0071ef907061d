import { SetMetadata } from '@nestjs/common';

/** Marks the edge's built-in controller, which tells callers their budgets: its decorators make no route, since it has one. */
export const BUILT_IN = Symbol('esclusa:built-in');
export const BuiltIn = (): ClassDecorator => SetMetadata(BUILT_IN, true);
