import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isIP } from 'node:net';
import { forwarded } from './forwarded.js';

describe('forwarded (RFC 7239)', () => {
  it.each<[string, (string | undefined)[]]>([
    ['for=192.0.2.60;proto=http;by=203.0.113.43', ['192.0.2.60']],
    ['for=192.0.2.43, for="[2001:db8:cafe::17]:4711"', ['2001:db8:cafe::17', '192.0.2.43']],
    ['For = 192.0.2.43', [undefined]],
    ['FOR=192.0.2.43 ; Proto=https;;', ['192.0.2.43']],
    ['for=192.0.2.43:80', ['192.0.2.43']],
    ['proto=https', [undefined]],
    ['for=_hidden, for=unknown, for=', [undefined, undefined, undefined]],
    ['', [undefined]],
  ])('%j from the right', (text, addresses) => {
    expect([...forwarded(text)]).toEqual(addresses);
  });

  it.each<[string, string | undefined]>([
    ['for=203.0.113.7;host="a,for=6.6.6.6;x="', '203.0.113.7'],
    ['host="a;for=6.6.6.6;b";for=203.0.113.7', '203.0.113.7'],
    ['host="\\",for=6.6.6.6;x=\\"";for=203.0.113.7', '203.0.113.7'],
    ['host="\\\\";for=203.0.113.7', '203.0.113.7'],
    ['for="6.6.6.6, for=203.0.113.7', '203.0.113.7'],
    ['for="6.6.6.6\\, for="203.0.113.7"', '203.0.113.7'],
    ['for=203.0.113.7;for=6.6.6.6', undefined],
    ['for=6.6.6.6 for=203.0.113.7', undefined],
    ['for="203.0.113.7', undefined],
    ['for=6.6.6.6"', undefined],
    [`for=6.6.6.6;host="${'x'.repeat(5000)}"`, undefined],
    [`${'x'.repeat(60_000)}, for=203.0.113.7`, '203.0.113.7'],
  ])('KEY-01: quotes and semicolons in %j forge nothing', (text, address) => {
    expect(forwarded(text).next().value).toBe(address);
  });

  it('KEY-01: whatever a caller writes before it or into its host, the element that a proxy appends is read as it was meant', () => {
    const hostile = fc.string({ unit: fc.constantFrom('"', ',', ';', '=', '\\', ' ', 'a', 'for', '6', '.'), maxLength: 30 });
    const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
    fc.assert(
      fc.property(hostile, hostile, fc.boolean(), (before, host, hostFirst) => {
        const pairs = ['for=203.0.113.7', `host=${quoted(host)}`];
        const element = (hostFirst ? pairs.reverse() : pairs).join(';');
        expect(forwarded(`${before}, ${element}`).next().value).toBe('203.0.113.7');
      }),
      { numRuns: 3000 },
    );
  });

  it('KEY-03: never throws and yields addresses only', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc
        .array(fc.constantFrom('for=', '"', '[', ']', ':', '1.2.3.4', '::1', '%x', ';', ',', ' ', '\\', 'by='))
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (value) => [...forwarded(value)].every((address) => address === undefined || isIP(address) !== 0)),
      { numRuns: 3000 },
    );
  });

  it.each(['"', '\\"', ' ', ';', 'a=b;', ' ;', 'for=', ',', '\\'])('KEY-03: 60 kB of %j are worked off and name nobody', (unit) => {
    expect([...forwarded(unit.repeat(60_000 / unit.length))].every((address) => address === undefined)).toBe(true);
  });
});
