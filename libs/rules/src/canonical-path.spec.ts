import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalPath } from './canonical-path.js';

const path = (raw: string): string | undefined => {
  const canonical = canonicalPath(raw);
  return 'path' in canonical ? canonical.path : undefined;
};

describe('canonicalPath', () => {
  it.each([
    ['/', '/'],
    ['/orders/1', '/orders/1'],
    ['/orders/', '/orders/'],
    ['/%61pi/lo%67in', '/api/login'],
    ['/a%20b', '/a%20b'],
    ['/caf%c3%a9', '/caf%C3%A9'],
    ['/%e6%bc%a2/%f0%9f%98%80', '/%E6%BC%A2/%F0%9F%98%80'],
    ['/a;v=1/b', '/a;v=1/b'],
    ['/v1.2/.hidden', '/v1.2/.hidden'],
    ['/...', '/...'],
    ['/a%2eb', '/a.b'],
    ['/100%25', '/100%25'],
    ['/%7Euser', '/~user'],
  ])('HTTP-01: %s is %s', (raw, canonical) => {
    expect(path(raw)).toBe(canonical);
  });

  it.each([
    '/external/../internal',
    '/external/%2e%2e/internal',
    '/external/.%2e/internal',
    '/external/..%2finternal',
    '/external/%252e%252e/internal',
    '/external\\..\\internal',
    '/a/./b',
    '/a/..',
    '/a/..;x=1/b',
    '/a/..%3bx=1/b',
    '/a/%c0%ae%c0%ae/b',
    '/a%e0%80%afb',
    '/tree/%80',
    '/%C3%28',
    '/%ED%A0%80',
    '/a%ff',
    '/a?b',
    '/a#b',
    '/a//b',
    '//a',
    '/a%5cb',
    '/a%00',
    '/a\u0000',
    '/a%0d%0a',
    '/a%7f',
    '/%zz',
    '/a%2',
    '/café',
    '/a b',
    '',
    '*',
    'http://other/a',
    'a/b',
  ])('HTTP-03: %j is refused', (raw) => {
    expect(canonicalPath(raw)).toHaveProperty('refused');
  });

  const messy = fc.array(
    fc.constantFrom('/', '.', '..', '%2e', '%2F', '%61', 'a', 'B', ';', '%25', '%', '\\', '//', '~', '%c3%a9', '%00'),
    { maxLength: 12 },
  );

  it('is idempotent: a canonical path is its own canonical form', () => {
    fc.assert(
      fc.property(messy, (parts) => {
        const once = path(`/${parts.join('')}`);
        return once === undefined || path(once) === once;
      }),
      { numRuns: 2000 },
    );
  });

  it('HTTP-01: what is matched is what is forwarded: a URL parser leaves a canonical path as it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          messy.map((parts) => parts.join('')),
          fc.webPath(),
          fc.string({ maxLength: 20 }),
        ),
        (raw) => {
          const canonical = path(`/${raw}`);
          return canonical === undefined || new URL(`http://upstream${canonical}`).pathname === canonical;
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('HTTP-03: no reader, however often it decodes, leaves the prefix of a canonical path', () => {
    fc.assert(
      fc.property(messy, (parts) => {
        const canonical = path(`/external/${parts.join('')}`);
        if (canonical === undefined) return true;
        let seen = canonical;
        for (let i = 0; i < 2; i += 1) {
          if (!new URL(seen.replaceAll('\\', '/'), 'http://x').pathname.startsWith('/external')) return false;
          try {
            seen = decodeURIComponent(seen);
          } catch {
            return true;
          }
        }
        return true;
      }),
      { numRuns: 2000 },
    );
  });
});
