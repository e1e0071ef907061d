import { describe, expect, it } from '@jest/globals';
import { requestHeaders, responseHeaders } from './headers.js';

const rules = { apiKeyHeader: 'x-api-key', dropAuthorization: false, peerAddress: '10.0.0.9', trustedPeer: false };

describe('requestHeaders', () => {
  it('drops hop-by-hop fields, what Connection names, the host, and the edge’s own key field', () => {
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
      'Accept',
      '*/*',
    ];
    expect(requestHeaders(raw, 'keep-alive, X-Drop', rules)).toEqual(['Accept', '*/*', 'x-forwarded-for', '10.0.0.9']);
  });

  it('adds its own fields after what Connection names was dropped: a caller cannot have them taken out', () => {
    expect(requestHeaders(['Connection', 'x-forwarded-for'], 'x-forwarded-for', rules)).toEqual(['x-forwarded-for', '10.0.0.9']);
  });

  it('appends to what a trusted peer says, and replaces what others say', () => {
    const raw = ['X-Forwarded-For', '203.0.113.7', 'x-forwarded-for', '198.51.100.1', 'Forwarded', 'for=203.0.113.7'];
    expect(requestHeaders(raw, undefined, { ...rules, trustedPeer: true })).toEqual([
      'Forwarded',
      'for=203.0.113.7',
      'x-forwarded-for',
      '203.0.113.7, 198.51.100.1, 10.0.0.9',
    ]);
    expect(requestHeaders(raw, undefined, rules)).toEqual(['x-forwarded-for', '10.0.0.9']);
  });

  it('keeps Authorization unless it was not verified', () => {
    const raw = ['Authorization', 'Basic x'];
    expect(requestHeaders(raw, undefined, rules)).toContain('Basic x');
    expect(requestHeaders(raw, undefined, { ...rules, dropAuthorization: true })).not.toContain('Basic x');
  });
});

describe('responseHeaders', () => {
  it('HTTP-09: keeps hop-by-hop fields and what Connection names on this side', () => {
    const headers = {
      connection: 'X-Foo',
      'x-foo': '1',
      'keep-alive': 'timeout=5',
      'proxy-authenticate': 'Basic',
      trailer: 'X',
      'x-bar': '2',
    };
    expect(responseHeaders(headers, false)).toEqual(['x-bar', '2']);
  });

  it('replaces an upstream’s budget fields on limited routes only, and keeps repeated fields apart', () => {
    const headers = { ratelimit: '"x";r=1', 'x-ratelimit-reset': '5', 'set-cookie': ['a=1', 'b=2'] };
    expect(responseHeaders(headers, true)).toEqual(['set-cookie', 'a=1', 'set-cookie', 'b=2']);
    expect(responseHeaders(headers, false)).toHaveLength(8);
  });
});
