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

  it.each(['01.02.03.04', '1.2.3', '1.2.3.4.5', '0x7f.0.0.1', '2130706433', '', ' ', '1.2.3.4:80', '[::1]', ':::', 'g::1'])(
    'KEY-03: %j is no address',
    (text) => {
      expect(partitionOfAddress(text, 64)).toBeUndefined();
    },
  );

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
  ])('%s: %s', (address, trusted) => {
    expect(proxies.has(address)).toBe(trusted);
  });

  it('believes nobody by default', () => {
    expect(new TrustedProxies([]).has('127.0.0.1')).toBe(false);
  });
});
