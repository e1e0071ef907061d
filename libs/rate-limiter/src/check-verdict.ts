import type { VerdictKind } from './algorithms/algorithm.js';
import type { CheckVerdict } from './bucket-store.js';

/** From a twin's microseconds to whole milliseconds, rounded up: whoever waits that long is not too early. */
export function toCheckVerdict(verdict: VerdictKind, remaining: number, waitUs: number, resetUs: number): CheckVerdict {
  return {
    verdict,
    remaining,
    retryAfterMs: verdict === 'refused' ? Math.ceil(waitUs / 1000) : undefined,
    resetAfterMs: Math.ceil(resetUs / 1000),
  };
}
