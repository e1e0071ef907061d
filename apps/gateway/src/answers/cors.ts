import type { RateLimitDialect } from './rate-limit-fields.js';

const STANDARD = 'RateLimit, RateLimit-Policy, Retry-After, Proxy-Status, X-Request-Id';
const GITHUB =
  'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-used, x-ratelimit-reset, x-ratelimit-resource, Retry-After, Proxy-Status, X-Request-Id';

/** What scripts of other origins may read of an answer; browsers hide these fields otherwise. */
export function exposedFields(dialect: RateLimitDialect): string {
  return dialect === 'github' ? GITHUB : STANDARD;
}
