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
  const raw = (...fields: string[]): Buffer[] => fields.map((field) => Buffer.from(field, 'latin1'));
  const none = { budget: [], exposed: undefined };

  it('HTTP-09: keeps hop-by-hop fields and what Connection names on this side', () => {
    const fields = raw(
      'Connection',
      'X-Foo',
      'X-Foo',
      '1',
      'Keep-Alive',
      'timeout=5',
      'Proxy-Authenticate',
      'Basic',
      'Trailer',
      'X',
      'X-Bar',
      '2',
    );
    expect(responseHeaders(fields, none)).toEqual(['X-Bar', '2']);
  });

  it('replaces an upstream’s budget fields on limited routes only, and keeps repeated fields apart', () => {
    const fields = raw('RateLimit', '"x";r=1', 'X-RateLimit-Reset', '5', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2');
    const budget = ['RateLimit', '"ours";r=2'];
    expect(responseHeaders(fields, { ...none, budget })).toEqual(['Set-Cookie', 'a=1', 'set-cookie', 'b=2', ...budget]);
    expect(responseHeaders(fields, none)).toHaveLength(8);
  });

  it('adds to what an upstream exposes to scripts, unless that is everything', () => {
    const rules = { budget: ['RateLimit', '"q";r=1'], exposed: 'RateLimit' };
    expect(responseHeaders(raw('Access-Control-Expose-Headers', 'X-Own'), rules)).toEqual([
      'Access-Control-Expose-Headers',
      'X-Own',
      'RateLimit',
      '"q";r=1',
      'access-control-expose-headers',
      'RateLimit',
    ]);
    expect(responseHeaders(raw('Access-Control-Expose-Headers', '*'), rules)).toHaveLength(4);
  });

  it('passes bytes beyond ASCII through as they are', () => {
    expect(responseHeaders([Buffer.from('X-Name'), Buffer.from('café')], none)[1]).toBe(Buffer.from('café').toString('latin1'));
  });
});
