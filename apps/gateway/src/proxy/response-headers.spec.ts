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
    expect(responseHeaders(fields, none)).toEqual(['X-Bar', '2', ...ID]);
  });

  it('replaces an upstream’s budget fields on limited routes only, and keeps repeated fields apart', () => {
    const fields = raw('RateLimit', '"x";r=1', 'X-RateLimit-Reset', '5', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2');
    const budget = ['RateLimit', '"ours";r=2'];
    expect(responseHeaders(fields, { ...none, budget })).toEqual(['Set-Cookie', 'a=1', 'set-cookie', 'b=2', ...budget, ...ID]);
    expect(responseHeaders(fields, none)).toHaveLength(10);
  });

  it('adds to what an upstream exposes to scripts, unless that is everything', () => {
    const rules = { ...none, budget: ['RateLimit', '"q";r=1'], exposed: 'RateLimit' };
    expect(responseHeaders(raw('Access-Control-Expose-Headers', 'X-Own'), rules)).toEqual([
      'Access-Control-Expose-Headers',
      'X-Own',
      'RateLimit',
      '"q";r=1',
      ...ID,
      'access-control-expose-headers',
      'RateLimit',
    ]);
    expect(responseHeaders(raw('Access-Control-Expose-Headers', '*'), rules)).toHaveLength(6);
  });

  it('replaces the upstream’s request id', () => {
    expect(responseHeaders(raw('X-Request-ID', 'theirs', 'X-A', 'b'), none)).toEqual(['X-A', 'b', ...ID]);
  });

  it('passes bytes beyond ASCII through as they are', () => {
    expect(responseHeaders([Buffer.from('X-Name'), Buffer.from('café')], none)[1]).toBe(Buffer.from('café').toString('latin1'));
  });
});
