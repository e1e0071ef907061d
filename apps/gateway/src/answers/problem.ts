import { isViolated, type Decision } from '#libs/admission';
import { StoreFault } from '#libs/rate-limiter';
import { statusError, type ProxyStatus } from './proxy-status.js';
import { quotaOf, retryAfterSeconds, type FlatFields } from './rate-limit-fields.js';

/** A problem document (RFC 9457), with the rate-limit draft's `violated-policies`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly 'violated-policies'?: readonly string[];
}

const REGISTRY = 'https://iana.org/assignments/http-problem-types';

/**
 * An answer that ends a request at the edge. Thrown by the guard and mapped in one filter; it is expected traffic, not a
 * fault, so it is no Error and has no stack.
 */
export class Refusal {
  constructor(
    readonly problem: Problem,
    readonly fields: FlatFields = [],
    /** Where the status alone does not say it. */
    readonly proxyStatus: ProxyStatus = { error: statusError(problem.status) },
  ) {}
}

/** A problem without a type of its own: the status says it all. */
export function plainProblem(status: number, title: string, detail: string): Problem {
  return { type: 'about:blank', title, status, detail };
}

/** The answer where numbers are asked for and the store gives none. @throws what is no fault of the store */
export function storeUnavailable(error: unknown): Refusal {
  if (!(error instanceof StoreFault)) throw error;
  return new Refusal(plainProblem(503, 'Service Unavailable', 'The store of the limits gives no answer; retry in 1 s.'), [
    'Retry-After',
    '1',
  ]);
}

/** The answer to a decision that does not let the request pass. */
export function refusalOf(decision: Decision): Refusal {
  const retry = decision.retryAfterMs === undefined ? undefined : retryAfterSeconds(decision.retryAfterMs);
  const fields = retry === undefined ? [] : ['Retry-After', String(retry)];
  if (decision.outcome === 'limited') return new Refusal(quotaExceeded(decision, retry), fields);
  return new Refusal(
    {
      type: `${REGISTRY}#temporary-reduced-capacity`,
      title: 'Request cannot be satisfied due to temporary server capacity constraints',
      status: 503,
      detail: `This route is out of service for the moment; retry in ${retry ?? 1} s.`,
    },
    fields,
  );
}

function quotaExceeded(decision: Decision, retry: number | undefined): Problem {
  const violated = decision.policies.filter(isViolated);
  const names = violated.map(
    (policy) => `${policy.applied.policy} (${quotaOf(policy.applied).quota} per ${quotaOf(policy.applied).windowSeconds} s)`,
  );
  const detail =
    retry === undefined
      ? `The request costs ${decision.cost}, more than ${names.join(' and ')} ever allows; waiting does not help.`
      : `Used up: ${names.join(' and ')}. Retry in ${retry} s.`;
  return {
    type: `${REGISTRY}#quota-exceeded`,
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    status: 429,
    detail,
    'violated-policies': violated.map((policy) => policy.applied.policy),
  };
}
