/** Requests in whose course one retry is saved up; a burst is capped, so that a long calm pays for no storm. */
const CAP = 100;
/** What a fresh upstream may retry before it has seen traffic. */
const START = 10;

/** Keeps retries a share of requests (a token bucket that requests fill), whatever fails: retries must not become the load. */
export class RetryBudget {
  private tokens = START;

  /** @param share retries per request over time, 0 to 1; 0: none at all */
  constructor(private readonly share: number) {
    if (share === 0) this.tokens = 0;
  }

  request(): void {
    this.tokens = Math.min(CAP, this.tokens + this.share);
  }

  /** Whether one more retry is within the budget; takes it. */
  take(): boolean {
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}

/** Full jitter: anything up to an exponentially growing bound, so that retries of one moment do not meet again. */
export function backoffMs(retry: number, random: () => number = Math.random): number {
  return random() * Math.min(1000, 25 * 2 ** retry);
}

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Methods whose repetition changes nothing (RFC 9110 §9.2.2). */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method);
}

/** Answers of an upstream that cannot serve now; none that says when to come back, for then nobody may come earlier. */
export function asksForRetry(status: number, hasRetryAfter: boolean): boolean {
  return (status === 502 || status === 503 || status === 504) && !hasRetryAfter;
}
