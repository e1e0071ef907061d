import type { IncomingHttpHeaders } from 'node:http';

/** Fields that speak of one connection only (RFC 9110 §7.6.1), and those that this hop answers itself. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Ours to say on a limited route: an upstream's own would mix with them. */
const BUDGET_FIELDS = new Set(['ratelimit', 'ratelimit-policy']);

export interface RequestHeaderRules {
  /** The edge's own API-key field, lower case: a credential for the edge goes no further. */
  readonly apiKeyHeader: string | undefined;
  readonly dropAuthorization: boolean;
  /** Who connected to us, appended to X-Forwarded-For; undefined where the socket has no address. */
  readonly peerAddress: string | undefined;
  /** Whether what the peer says about forwarding is believed; replaced otherwise. */
  readonly trustedPeer: boolean;
}

/** Request fields for the upstream, name and value in turn. What `Connection` names goes first, then our own are added. */
export function requestHeaders(rawHeaders: readonly string[], connection: string | undefined, rules: RequestHeaderRules): string[] {
  const named = namedByConnection(connection);
  const headers: string[] = [];
  let forwardedFor = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named?.has(lower) === true) continue;
    if (lower === 'host' || lower === 'expect' || lower === rules.apiKeyHeader) continue;
    if (lower === 'authorization' && rules.dropAuthorization) continue;
    if (lower === 'x-forwarded-for') {
      if (rules.trustedPeer) forwardedFor = forwardedFor === '' ? value : `${forwardedFor}, ${value}`;
      continue;
    }
    if (lower === 'forwarded' && !rules.trustedPeer) continue;
    headers.push(name, value);
  }
  if (rules.peerAddress !== undefined) {
    headers.push('x-forwarded-for', forwardedFor === '' ? rules.peerAddress : `${forwardedFor}, ${rules.peerAddress}`);
  }
  return headers;
}

/** Response fields for the caller, name and value in turn. `limited`: our budget fields replace the upstream's. */
export function responseHeaders(headers: IncomingHttpHeaders, limited: boolean): string[] {
  const named = namedByConnection(headers.connection);
  const kept: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || HOP_BY_HOP.has(name) || named?.has(name) === true) continue;
    if (limited && (BUDGET_FIELDS.has(name) || name.startsWith('x-ratelimit-'))) continue;
    if (Array.isArray(value)) for (const one of value) kept.push(name, one);
    else kept.push(name, value);
  }
  return kept;
}

function namedByConnection(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}
