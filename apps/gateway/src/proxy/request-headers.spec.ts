import { describe, expect, it } from '@jest/globals';
import { requestHeaders, type RequestHeaderRules } from './request-headers.js';

const hop = { peerAddress: '10.0.0.9', trustedPeer: false, proto: 'http', version: '1.1', host: 'edge.example', edge: 'edge-a' } as const;
const rules: RequestHeaderRules = {
  apiKeyHeader: 'x-api-key',
  dropAuthorization: false,
  keepHost: false,
  hop,
  trace: { requestId: 'r-1', traceparent: 'started-here' },
  identity: { tenant: undefined, user: undefined, tier: undefined },
  deadlineMs: undefined,
};
const trusted: RequestHeaderRules = { ...rules, hop: { ...hop, trustedPeer: true }, trace: { requestId: 'r-1', traceparent: undefined } };

/** What is sent, by lower-case name; repeated fields joined. */
function sent(raw: readonly string[], more: Partial<RequestHeaderRules> = {}, connection?: string): Record<string, string> {
  const headers = requestHeaders(raw, connection, { ...rules, ...more });
  const byName: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] ?? '').toLowerCase();
    byName[name] = byName[name] === undefined ? (headers[i + 1] ?? '') : `${byName[name]}, ${headers[i + 1] ?? ''}`;
  }
  return byName;
}

const OURS = {
  'x-forwarded-for': '10.0.0.9',
  'x-forwarded-proto': 'http',
  'x-forwarded-host': 'edge.example',
  forwarded: 'for=10.0.0.9;host="edge.example";proto=http;by=_edge-a',
  via: '1.1 edge-a',
  'x-request-id': 'r-1',
  traceparent: 'started-here',
};

describe('requestHeaders', () => {
  it('drops hop-by-hop fields, what Connection names, the host, the expectation, and the edge’s own key field', () => {
    const raw = [
      'Host',
      'edge',
      'Connection',
      'keep-alive, X-Drop',
      'X-Drop',
      '1',
      'TE',
      'trailers',
      'X-API-Key',
      's',
      'Expect',
      '100-continue',
    ];
    expect(sent([...raw, 'Accept', '*/*'], {}, 'keep-alive, X-Drop')).toEqual({ accept: '*/*', ...OURS });
  });

  it('adds its own fields after what Connection names was dropped: a caller cannot have them taken out', () => {
    const named = 'x-forwarded-for, via, x-esclusa-tenant, content-length';
    const raw = ['Connection', named, 'Content-Length', '3'];
    const identity = { tenant: 'acme', user: undefined, tier: 'free' };
    expect(sent(raw, { identity }, named)).toEqual({
      ...OURS,
      'content-length': '3',
      'x-esclusa-tenant': 'acme',
      'x-esclusa-tier': 'free',
    });
  });

  it('replaces what others say about forwarding, identity and trace, in any spelling that a server may take for it', () => {
    const raw = ['X-Forwarded-For', '1.1.1.1', 'Forwarded', 'for=1.1.1.1', 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', 'other'];
    raw.push('x_forwarded_for', '1.1.1.1', 'X-Esclusa-Tenant', 'acme', 'x_esclusa_tenant', 'acme', 'X-Esclusa-Deadline-Ms', '1');
    raw.push('X-Request-Id', 'mine', 'Traceparent', 'mine', 'Tracestate', 'mine', 'Baggage', 'mine', 'Transfer_Encoding', 'chunked');
    raw.push('Content_Length', '7', 'Via', '1.0 before');
    expect(sent(raw)).toEqual({ ...OURS, via: '1.0 before, 1.1 edge-a' });
  });

  it('appends to what a trusted peer says, and passes its trace through', () => {
    const raw = [
      'X-Forwarded-For',
      '203.0.113.7',
      'x-forwarded-for',
      '198.51.100.1',
      'X-Forwarded-Proto',
      'https',
      'X-Forwarded-Host',
      'shop',
    ];
    raw.push('Traceparent', 'theirs', 'Tracestate', 'a=1', 'Baggage', 'b=2');
    expect(sent(raw, trusted)).toEqual({
      ...OURS,
      'x-forwarded-for': '203.0.113.7, 198.51.100.1, 10.0.0.9',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shop',
      // From X-Forwarded-For, so that both tell the same.
      forwarded: `for=203.0.113.7, for=198.51.100.1, ${OURS.forwarded}`,
      traceparent: 'theirs',
      tracestate: 'a=1',
      baggage: 'b=2',
    });
  });

  it('makes X-Forwarded-For of a trusted peer’s Forwarded', () => {
    const raw = ['Forwarded', 'for="[2001:db8::1]:4711";proto=https', 'Forwarded', 'for=_hidden'];
    expect(sent(raw, trusted)).toMatchObject({
      forwarded: `for="[2001:db8::1]:4711";proto=https, for=_hidden, ${OURS.forwarded}`,
      'x-forwarded-for': '2001:db8::1, unknown, 10.0.0.9',
    });
  });

  it('writes IPv6 in quotes and brackets, and IPv4 on a dual-stack socket as IPv4', () => {
    expect(sent([], { hop: { ...hop, peerAddress: '2001:db8::9' } }).forwarded).toMatch(/^for="\[2001:db8::9\]";/);
    expect(sent([], { hop: { ...hop, peerAddress: '::ffff:10.1.2.3' } })).toMatchObject({ 'x-forwarded-for': '10.1.2.3' });
    expect(sent([], { hop: { ...hop, peerAddress: undefined } }).forwarded).toMatch(/^for=unknown;/);
  });

  it('Via names the version that the request came in by (RFC 9110 §7.6.3)', () => {
    expect(sent([], { hop: { ...hop, version: '2.0' } }).via).toBe('2.0 edge-a');
    expect(sent(['Via', '1.0 before'], { hop: { ...hop, version: '1.0' } }).via).toBe('1.0 before, 1.0 edge-a');
  });

  it('keeps Authorization unless it was not verified', () => {
    const raw = ['Authorization', 'Basic x'];
    expect(sent(raw).authorization).toBe('Basic x');
    expect(sent(raw, { dropAuthorization: true }).authorization).toBeUndefined();
  });

  it('tells the upstream the caller’s Host where that is wanted, and what is left of the deadline', () => {
    expect(sent(['Host', 'edge.example'], { keepHost: true, deadlineMs: 99.2 })).toMatchObject({
      host: 'edge.example',
      'x-esclusa-deadline-ms': '100',
    });
  });

  it.each([
    ['límite-漢', 'l%C3%ADmite-%E6%BC%A2'],
    ['a b%c', 'a%20b%25c'],
    ['line\r\nbreak', 'line%0D%0Abreak'],
    ['\ud800', '%EF%BF%BD'],
  ])('HTTP-17: writes an identity that no field may carry as percent-encoded UTF-8: %j', (tenant, encoded) => {
    expect(sent([], { identity: { tenant, user: undefined, tier: undefined } })['x-esclusa-tenant']).toBe(encoded);
  });

  it('takes what upstreams believe of earlier hops from trusted peers only', () => {
    const raw = ['X-Real-IP', '1.2.3.4', 'X_Forwarded_Port', '1', 'X-Forwarded-Prefix', '/admin', 'X-Original-URL', '/admin', 'X-Own', '1'];
    expect(sent(raw)).toEqual({ 'x-own': '1', ...OURS });
    expect(sent(raw, trusted)).toMatchObject({ 'x-real-ip': '1.2.3.4', 'x-forwarded-prefix': '/admin', 'x-original-url': '/admin' });
  });
});
