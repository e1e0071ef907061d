import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toBase62 } from './base62.js';

describe('toBase62', () => {
  it.each<[bigint, string]>([
    [0n, '000'],
    [61n, '00z'],
    [62n, '010'],
    [62n ** 3n - 1n, 'zzz'],
  ])('%s is %s in three digits', (value, text) => {
    expect(toBase62(value, 3)).toBe(text);
  });

  it('has room for 256 bits in 43 digits, and keeps numbers apart and in order', () => {
    const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const [left, right] = [toBase62(a, 43), toBase62(b, 43)];
        expect([left.length, right.length]).toEqual([43, 43]);
        expect(left < right).toBe(a < b);
      }),
    );
  });
});
