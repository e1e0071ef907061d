import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Matcher } from './matcher.js';

const patterns = [
  { name: 'root', methods: undefined, path: '/' },
  { name: 'list', methods: ['GET'], path: '/orders' },
  { name: 'write', methods: ['POST'], path: '/orders' },
  { name: 'any', methods: undefined, path: '/orders' },
  { name: 'one', methods: undefined, path: '/orders/:id' },
  { name: 'latest', methods: ['GET'], path: '/orders/latest' },
  { name: 'items', methods: undefined, path: '/orders/:id/items' },
  { name: 'below', methods: undefined, path: '/orders/*' },
  { name: 'rest', methods: ['GET'], path: '/*' },
];

describe('Matcher', () => {
  const matcher = new Matcher(patterns);

  it.each([
    ['GET', '/', 'root'],
    ['GET', '/orders', 'list'],
    ['POST', '/orders', 'write'],
    ['PUT', '/orders', 'any'],
    ['GET', '/orders/1', 'one'],
    ['GET', '/orders/latest', 'latest'],
    ['POST', '/orders/latest', 'one'],
    ['GET', '/orders/', 'below'],
    ['GET', '/orders/1/items', 'items'],
    ['GET', '/orders/1/other', 'below'],
    ['GET', '/ordersx', 'rest'],
    ['GET', '/Orders', 'rest'],
    ['POST', '/other', undefined],
  ])('%s %s is %s', (method, path, name) => {
    expect(matcher.match(method, path)?.name).toBe(name);
  });

  it('CFG-17: the order of patterns never matters', () => {
    const requests = fc.tuple(
      fc.constantFrom('GET', 'POST', 'PUT'),
      fc.array(fc.constantFrom('orders', 'latest', 'items', '1', ''), { maxLength: 4 }).map((segments) => `/${segments.join('/')}`),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(patterns, { minLength: patterns.length }), requests, (shuffled, [method, path]) => {
        return new Matcher(shuffled).match(method, path) === matcher.match(method, path);
      }),
      { numRuns: 1000 },
    );
  });
});
