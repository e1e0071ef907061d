import { forwardingFields, type EarlierHops, type Hop } from './forwarding-fields.js';
import { isHopByHop, namedByConnection } from './hop-by-hop.js';
import type { TraceContext } from '../edge/trace.js';

export interface RequestHeaderRules {
  /** The edge's own API-key field, lower case: a credential for the edge goes no further. */
  readonly apiKeyHeader: string | undefined;
  readonly dropAuthorization: boolean;
  /** Whether the upstream sees the caller's Host; its own otherwise. */
  readonly keepHost: boolean;
  readonly hop: Hop;
  readonly trace: TraceContext;
  /** Who asks, for the upstream: verified, or nobody. */
  readonly identity: { readonly tenant: string | undefined; readonly user: string | undefined; readonly tier: string | undefined };
  /** What is left of the route's deadline; undefined where it has none. */
  readonly deadlineMs: number | undefined;
}

/** Fields that are ours alone to write. A caller's own never pass, trusted or not. */
const OURS = 'x-esclusa-';
/** Besides X-Forwarded-*, what an upstream believes of a hop before it about who asks for what: not of anybody else. */
const SAID_BY_HOPS = new Set(['x-real-ip', 'x-original-url', 'x-rewrite-url']);

/** Request fields for the upstream, name and value in turn. What `Connection` names goes first, then our own are added (RFC 9110 §7.6.1). */
export function requestHeaders(rawHeaders: readonly string[], connection: string | undefined, rules: RequestHeaderRules): string[] {
  const named = namedByConnection(connection);
  const headers: string[] = [];
  const earlier: EarlierHops = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    const lower = name.toLowerCase();
    // It frames the body that we pass on, so it stays whatever Connection says.
    if (lower === 'content-length') headers.push(name, value);
    else if (named?.has(lower) === true) continue;
    else {
      const known = knownAs(lower);
      if (!takeEarlier(earlier, known, value) && passes(known, rules)) headers.push(name, value);
    }
  }
  if (rules.keepHost && rules.hop.host !== undefined) headers.push('host', rules.hop.host);
  headers.push(...forwardingFields(rules.hop, earlier), 'x-request-id', rules.trace.requestId);
  if (rules.trace.traceparent !== undefined) headers.push('traceparent', rules.trace.traceparent);
  const { tenant, user, tier } = rules.identity;
  if (tenant !== undefined) headers.push('x-esclusa-tenant', fieldValue(tenant));
  if (user !== undefined) headers.push('x-esclusa-user', fieldValue(user));
  if (tier !== undefined) headers.push('x-esclusa-tier', fieldValue(tier));
  if (rules.deadlineMs !== undefined) headers.push('x-esclusa-deadline-ms', String(Math.max(1, Math.ceil(rules.deadlineMs))));
  return headers;
}

/** Some servers read `_` as `-`, so both are one name where a name matters to us. */
function knownAs(lower: string): string {
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower;
}

/** Whether the field speaks of earlier hops: then it is noted, to be written again by us. */
function takeEarlier(earlier: EarlierHops, known: string, value: string): boolean {
  switch (known) {
    case 'x-forwarded-for':
      earlier.xForwardedFor = earlier.xForwardedFor === undefined ? value : `${earlier.xForwardedFor}, ${value}`;
      return true;
    case 'forwarded':
      earlier.forwarded = earlier.forwarded === undefined ? value : `${earlier.forwarded}, ${value}`;
      return true;
    case 'x-forwarded-proto':
      earlier.xForwardedProto = value;
      return true;
    case 'x-forwarded-host':
      earlier.xForwardedHost = value;
      return true;
    default:
      return false;
  }
}

function passes(known: string, { apiKeyHeader, dropAuthorization, trace, hop }: RequestHeaderRules): boolean {
  if (isHopByHop(known) || known.startsWith(OURS)) return false;
  switch (known) {
    case apiKeyHeader:
    case 'expect':
    case 'host':
    case 'http2-settings':
    case 'x-request-id':
    // Another spelling than the one that frames this request, which the upstream might take for it.
    case 'content-length':
      return false;
    case 'authorization':
      return !dropAuthorization;
    // A trace from outside the trust boundary ends here (W3C Trace Context §3.2, Baggage §3).
    case 'traceparent':
    case 'tracestate':
      return trace.traceparent === undefined;
    case 'baggage':
      return hop.trustedPeer;
    default:
      if (!hop.trustedPeer && (SAID_BY_HOPS.has(known) || known.startsWith('x-forwarded-'))) return false;
      // Pseudo-fields of HTTP/2 (RFC 9113 §8.3) are no fields here.
      return !known.startsWith(':');
  }
}

/** Visible ASCII as it is; everything else, and `%`, as percent-encoded UTF-8. */
function fieldValue(text: string): string {
  if (/^[!-$&-~]+$/.test(text)) return text;
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[^!-$&-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
