import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PartitionName } from './model.js';
import { encodeKeyValue, partitionKey } from './partition.js';

const acme = { tenant: 'acme', user: 'bob', apiKey: 'k_1', ip: '10.0.0.1' };

describe('partitionKey', () => {
  it.each<[PartitionName[], object, string]>([
    [['tenant', 'route'], acme, 'rl1:{tenant:acme}:p:route:search'],
    [['tenant'], acme, 'rl1:{tenant:acme}:p'],
    [['user'], acme, 'rl1:{tenant:acme}:p:user:bob'],
    [['user'], { ...acme, user: undefined }, 'rl1:{tenant:acme}:p:apiKey:k_1'],
    [['user'], { ...acme, user: undefined, apiKey: undefined }, 'rl1:{tenant:acme}:p'],
    [['apiKey'], acme, 'rl1:{tenant:acme}:p:apiKey:k_1'],
    [['apiKey'], { ...acme, apiKey: undefined }, 'rl1:{tenant:acme}:p'],
    [['tenant', 'ip'], acme, 'rl1:{tenant:acme}:p:ip:10.0.0.1'],
    [['tenant', 'route'], { ip: '10.0.0.1' }, 'rl1:{ip:10.0.0.1}:p:route:search'],
    [['ip'], acme, 'rl1:{ip:10.0.0.1}:p'],
    [['ip', 'route'], { ip: '2001:db8::/64' }, 'rl1:{ip:2001%3Adb8%3A%3A%2F64}:p:route:search'],
    [['route'], acme, 'rl1:{route:search}:p'],
    [[], acme, 'rl1:{global}:p'],
  ])('per %j is %s', (per, subject, key) => {
    expect(partitionKey('p', per, subject as typeof acme, 'search')).toBe(key);
  });

  it('KEY-11: parts of a key cannot run into each other', () => {
    const key = (tenant: string, user: string): string => partitionKey('p', ['user'], { tenant, user, ip: 'x' }, 'r');
    expect(key('a:b', 'c')).not.toBe(key('a', 'b:c'));
    expect(key('a', '')).not.toBe(key('', 'a'));
    expect(key('%3A', 'c')).not.toBe(key(':', 'c'));
    expect(key('a'.repeat(300), 'c').length).toBeLessThan(120);
  });

  it('KEY-11: is injective over random tuples', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ maxLength: 80 }),
      fc.constantFrom('', ':', '{', '}', '%', '=', 'user:', '}:p:user:', '\ud800', '\udfff'),
    );
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(text, text, text, (tenant, user, route) => {
        const key = partitionKey('p', ['user', 'route'], { tenant, user, ip: 'x' }, route);
        const tuple = JSON.stringify([tenant, user, route]);
        const known = seen.get(key);
        seen.set(key, tuple);
        return known === undefined || known === tuple;
      }),
      { numRuns: 100_000 },
    );
  });

  it('keeps every value inside its place: one hash tag, no control characters, bounded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (tenant) => {
        const key = partitionKey('p', ['tenant'], { tenant, ip: 'x' }, 'r');
        return /^rl1:\{tenant:(=[A-Za-z0-9_-]{43}|[A-Za-z0-9._~%-]{0,64})\}:p$/.test(key);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('encodeKeyValue', () => {
  it.each([
    ['acme', 'acme'],
    ['a b', 'a%20b'],
    ["!'()*", '%21%27%28%29%2A'],
    ['漢', '%E6%BC%A2'],
    ['x'.repeat(64), 'x'.repeat(64)],
  ])('writes %j as %s', (value, encoded) => {
    expect(encodeKeyValue(value)).toBe(encoded);
  });

  it('hashes what is longer than 64 bytes, and marks it', () => {
    expect(encodeKeyValue('x'.repeat(65))).toMatch(/^=[A-Za-z0-9_-]{43}$/);
    expect(encodeKeyValue('\ud800')).not.toBe(encodeKeyValue('\ud801'));
  });
});
