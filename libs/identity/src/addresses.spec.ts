import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TrustedProxies, partitionOfAddress } from './addresses.js';

describe('partitionOfAddress', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:FFFF:0102:0304', '1.2.3.4'],
    ['::ffff:5.6.7.8', '5.6.7.8'],
    ['2001:db8:1:2::1.2.3.4', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::102:304', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['fe80::1%eth0.100', 'fe80::/64'],
    ['::1', '::/64'],
    ['::1.2.3.4', '::/64'],
    ['::102:304', '::/64'],
    ['64:ff9b::1.2.3.4', '64:ff9b::/64'],
    ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
  ])('KEY-05: %s counts as %s', (text, partition) => {
    expect(partitionOfAddress(text, 64)).toBe(partition);
  });

  it.each([
    [56, '2001:db8:1:200::/56'],
    [60, '2001:db8:1:2f0::/60'],
    [128, '2001:db8:1:2ff::1/128'],
  ])('counts IPv6 by a prefix of %i bits where that is set', (prefix, partition) => {
    expect(partitionOfAddress('2001:db8:1:2ff::1', prefix)).toBe(partition);
  });

  it.each(['01.02.03.04', '1.2.3', '1.2.3.4.5', '0x7f.0.0.1', '2130706433', '', ' ', '1.2.3.4:80', '1.2.3.4%eth0', '[::1]', ':::', 'g::1'])(
    'KEY-03: %j is no address',
    (text) => {
      expect(partitionOfAddress(text, 64)).toBeUndefined();
    },
  );

  it('KEY-05: every spelling of an IPv6 address counts as the same, and as IPv4 if its bits say so', () => {
    const word = fc.oneof(fc.constant(0), fc.constant(0xffff), fc.nat(0xffff));
    const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
    fc.assert(
      fc.property(fc.array(word, { minLength: 8, maxLength: 8 }), (words) => {
        const hex = words.map((value) => value.toString(16));
        const [high = 0, low = 0] = words.slice(6);
        const mapped = words.slice(0, 5).every((value) => value === 0) && words[5] === 0xffff;
        const plain = hex.join(':');
        const expected = mapped ? dotted(high, low) : new URL(`http://[${plain}]`).hostname.replace(/^\[(.*)\]$/, '$1/128');
        const spellings = [
          plain,
          plain.toUpperCase(),
          hex.map((value) => value.padStart(4, '0')).join(':'),
          `${hex.slice(0, 6).join(':')}:${dotted(high, low)}`,
          plain.replace(/(^|:)0(:0)+(:|$)/, '::'),
          `${hex
            .slice(0, 6)
            .join(':')
            .replace(/^0(:0)+$/, ':')}:${dotted(high, low)}`,
        ];
        for (const spelling of spellings) expect([spelling, partitionOfAddress(spelling, 128)]).toEqual([spelling, expected]);
      }),
      { numRuns: 2000 },
    );
  });

  it('KEY-03: never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.ipV6(), fc.ipV4Extended()), (text) => {
        const partition = partitionOfAddress(text, 64);
        return partition === undefined || /^([\d.]+|[\da-f:.]+\/64)$/.test(partition);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('TrustedProxies', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);

  it.each([
    ['10.1.2.3', true],
    ['::ffff:10.1.2.3', true],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['2001:db8:9::1', true],
    ['2001:db9::1', false],
    ['nonsense', false],
    ['::10.1.2.3', false],
  ])('%s: %s', (address, trusted) => {
    expect(proxies.has(address)).toBe(trusted);
  });

  it.each(['10.0.0.0/', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0/8', '::/129', 'nonsense', ''])(
    'does not take %j',
    (entry) => {
      expect(() => new TrustedProxies([entry])).toThrow(/allowed: an address/);
    },
  );

  it('believes nobody by default', () => {
    expect(new TrustedProxies([]).has('127.0.0.1')).toBe(false);
  });
});
