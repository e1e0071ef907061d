import type { IncomingMessage } from 'node:http';
import type { Decision } from '#libs/admission';
import type { FlatFields } from '../answers/rate-limit-fields.js';
import type { TraceContext } from '../edge/trace.js';

/** What admission found out about a request, for whoever answers it. */
export interface Visit {
  readonly decision: Decision;
  /** The tenant's; for the upstream to know. */
  readonly tier: string | undefined;
  /** RateLimit fields for the response, whoever sends it. */
  readonly fields: FlatFields;
  /** The bearer token was not verified: it must not reach the upstream as if it were. */
  readonly dropAuthorization: boolean;
  readonly trustedPeer: boolean;
  readonly trace: TraceContext;
  /** When the request arrived, on the monotonic clock. */
  readonly arrivedAtMs: number;
}

const VISIT = Symbol('esclusa:visit');
type Visited = IncomingMessage & { [VISIT]?: Visit };

/** Undefined before admission, and for handlers that skip it. */
export const visitOf = (request: IncomingMessage): Visit | undefined => (request as Visited)[VISIT];

export function rememberVisit(request: IncomingMessage, visit: Visit): void {
  (request as Visited)[VISIT] = visit;
}
