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

/** What becomes of a response's fields on their way to the caller. */
export interface ResponseHeaderRules {
  /** Our budget fields, name and value in turn; they replace the upstream's. Empty where nothing limited the request. */
  readonly budget: readonly string[];
  /** Fields that scripts of other origins may read besides the upstream's own list; undefined where no script asks. */
  readonly exposed: string | undefined;
}

/** Response fields for the caller, name and value in turn, byte for byte what the upstream sent (RFC 9110 §5.5 leaves them opaque). */
export function responseHeaders(rawHeaders: readonly Buffer[], { budget, exposed }: ResponseHeaderRules): string[] {
  const fields = rawHeaders.map((bytes) => bytes.toString('latin1'));
  const named = namedByConnection(valueOf(fields, 'connection'));
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named?.has(lower) === true) continue;
    if (budget.length > 0 && (BUDGET_FIELDS.has(lower) || lower.startsWith('x-ratelimit-'))) continue;
    kept.push(name, fields[i + 1] as string);
  }
  for (const field of budget) kept.push(field);
  // A list may be split over several field lines, so ours is one more; `*` names everything already.
  if (budget.length > 0 && exposed !== undefined && valueOf(fields, EXPOSE) !== '*') kept.push(EXPOSE, exposed);
  return kept;
}

const EXPOSE = 'access-control-expose-headers';

function valueOf(fields: readonly string[], lowerName: string): string | undefined {
  for (let i = 0; i < fields.length; i += 2) if (fields[i]?.toLowerCase() === lowerName) return fields[i + 1]?.trim();
  return undefined;
}

function namedByConnection(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}
