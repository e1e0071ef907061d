import type { FastifyRequest } from 'fastify';
import type { Decision } from '#libs/admission';
import type { FlatFields } from '../answers/rate-limit-fields.js';

/** What the guard found out about a request, for whoever answers it. */
export interface Visit {
  readonly decision: Decision;
  /** RateLimit fields for the response, whoever sends it. */
  readonly fields: FlatFields;
  /** The bearer token was not verified: it must not reach the upstream as if it were. */
  readonly dropAuthorization: boolean;
}

const VISIT = Symbol('esclusa:visit');
type Visited = FastifyRequest & { [VISIT]?: Visit };

/** Undefined before admission, and for handlers that skip it. */
export const visitOf = (request: FastifyRequest): Visit | undefined => (request as Visited)[VISIT];

export function rememberVisit(request: FastifyRequest, visit: Visit): void {
  (request as Visited)[VISIT] = visit;
}
