import { isHopByHop, namedByConnection } from './hop-by-hop.js';
import { UpstreamFault } from './upstream-faults.js';

/** Ours to say on a limited route: an upstream's own would mix with them. */
const BUDGET_FIELDS = new Set(['ratelimit', 'ratelimit-policy']);
const EXPOSE = 'access-control-expose-headers';

/** What becomes of a response's fields on their way to the caller. */
export interface ResponseHeaderRules {
  /** Our budget fields, name and value in turn; they replace the upstream's. Empty where nothing limited the request. */
  readonly budget: readonly string[];
  /** Fields that scripts of other origins may read besides the upstream's own list; undefined where no script asks. */
  readonly exposed: string | undefined;
  /** Replaces the upstream's X-Request-Id. */
  readonly requestId: string;
}

/**
 * Response fields for the caller, name and value in turn, byte for byte what the upstream sent (RFC 9110 §5.5 leaves them opaque).
 * @throws UpstreamFault where the body is in a transfer coding that this hop cannot undo
 */
export function responseHeaders(
  rawHeaders: readonly Buffer[],
  status: number,
  { budget, exposed, requestId }: ResponseHeaderRules,
): string[] {
  const fields = rawHeaders.map((bytes) => bytes.toString('latin1'));
  const named = namedByConnection(valuesOf(fields, 'connection'));
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string;
    const lower = name.toLowerCase();
    if (lower === 'transfer-encoding' && !/^chunked$/i.test((fields[i + 1] as string).trim()))
      throw new UpstreamFault('http_response_transfer_coding');
    if (isHopByHop(lower) || lower === 'x-request-id' || named?.has(lower) === true) continue;
    // There is none to have a length (RFC 9110 §8.6).
    if (status === 204 && lower === 'content-length') continue;
    if (budget.length > 0 && (BUDGET_FIELDS.has(lower) || lower.startsWith('x-ratelimit-'))) continue;
    kept.push(name, fields[i + 1] as string);
  }
  for (const field of budget) kept.push(field);
  kept.push('x-request-id', requestId);
  // A list may be split over several field lines, so ours is one more; `*` names everything already.
  if (budget.length > 0 && exposed !== undefined && valuesOf(fields, EXPOSE) !== '*') kept.push(EXPOSE, exposed);
  return kept;
}

/** All lines of a field as the one list that they are (RFC 9110 §5.3). */
function valuesOf(fields: readonly string[], lowerName: string): string | undefined {
  let values: string | undefined;
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i]?.toLowerCase() !== lowerName) continue;
    const value = (fields[i + 1] as string).trim();
    values = values === undefined ? value : `${values}, ${value}`;
  }
  return values;
}
