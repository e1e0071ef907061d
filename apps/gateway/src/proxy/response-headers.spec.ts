import { describe, expect, it } from '@jest/globals';
import { responseHeaders } from './response-headers.js';

describe('responseHeaders', () => {
  const raw = (...fields: string[]): Buffer[] => fields.map((field) => Buffer.from(field, 'latin1'));
  /** Ours, at the end. */
  const ID = ['x-request-id', 'r-1'];
  const none = { budget: [], exposed: undefined, requestId: 'r-1' };

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
    expect(responseHeaders(fields, 200, none)).toEqual(['X-Bar', '2', ...ID]);
  });

  it('replaces an upstream’s budget fields on limited routes only, and keeps repeated fields apart', () => {
    const fields = raw('RateLimit', '"x";r=1', 'X-RateLimit-Reset', '5', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2');
    const budget = ['RateLimit', '"ours";r=2'];
    expect(responseHeaders(fields, 200, { ...none, budget })).toEqual(['Set-Cookie', 'a=1', 'set-cookie', 'b=2', ...budget, ...ID]);
    expect(responseHeaders(fields, 200, none)).toHaveLength(10);
  });

  it('adds to what an upstream exposes to scripts, unless that is everything', () => {
    const rules = { ...none, budget: ['RateLimit', '"q";r=1'], exposed: 'RateLimit' };
    expect(responseHeaders(raw('Access-Control-Expose-Headers', 'X-Own'), 200, rules)).toEqual([
      'Access-Control-Expose-Headers',
      'X-Own',
      'RateLimit',
      '"q";r=1',
      ...ID,
      'access-control-expose-headers',
      'RateLimit',
    ]);
    expect(responseHeaders(raw('Access-Control-Expose-Headers', '*'), 200, rules)).toHaveLength(6);
  });

  it('replaces the upstream’s request id', () => {
    expect(responseHeaders(raw('X-Request-ID', 'theirs', 'X-A', 'b'), 200, none)).toEqual(['X-A', 'b', ...ID]);
  });

  it('passes bytes beyond ASCII through as they are', () => {
    expect(responseHeaders([Buffer.from('X-Name'), Buffer.from('café')], 200, none)[1]).toBe(Buffer.from('café').toString('latin1'));
  });

  it('a body in a transfer coding of its own cannot be passed on; 204 has no body to have a length', () => {
    for (const coding of ['gzip, chunked', 'identity', '']) {
      expect(() => responseHeaders(raw('Transfer-Encoding', coding), 200, none)).toThrow('http_response_transfer_coding');
    }
    expect(responseHeaders(raw('Transfer-Encoding', 'Chunked'), 200, none)).toEqual(ID);
    expect(responseHeaders(raw('Content-Length', '5'), 204, none)).toEqual(ID);
    expect(responseHeaders(raw('Content-Length', '5'), 304, none)).toEqual(['Content-Length', '5', ...ID]);
  });
});
