import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AddressReader } from './address-reader.js';

const reader = new AddressReader(['10.0.0.0/8'], 64);
const PEER = '10.0.0.1';
const read = (...rawHeaders: string[]): string => reader.read({ peerAddress: PEER, rawHeaders });
const xff = (value: string): string => read('X-Forwarded-For', value);

describe('AddressReader', () => {
  it('KEY-01: reads from the right, over trusted hops, and never takes the left-most entry on trust', () => {
    expect(xff('6.6.6.6, 203.0.113.7')).toBe('203.0.113.7');
    expect(xff('6.6.6.6, 203.0.113.7, 10.2.2.2, 10.3.3.3')).toBe('203.0.113.7');
    expect(read('X-Forwarded-For', '6.6.6.6', 'x-forwarded-for', '203.0.113.7')).toBe('203.0.113.7');
  });

  it('ignores the field from a peer that is not trusted', () => {
    expect(reader.read({ peerAddress: '203.0.113.9', rawHeaders: ['X-Forwarded-For', '6.6.6.6'] })).toBe('203.0.113.9');
  });

  it.each([
    ['unknown', PEER],
    ['_hidden', PEER],
    ['203.0.113.7:80', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::/64'],
    ['fe80::1%eth0.100', 'fe80::/64'],
    ['01.02.03.04', PEER],
    ['1.2.3', PEER],
    ['', PEER],
    [' ,,, ', PEER],
    ['203.0.113.7, nonsense', PEER],
    ['nonsense, 203.0.113.7', '203.0.113.7'],
    ['nonsense, 10.2.2.2', '10.2.2.2'],
    [`${'6.6.6.6, '.repeat(10_000)}203.0.113.7`, '203.0.113.7'],
    ['10.9.9.9, '.repeat(10_000), PEER],
    ['é'.repeat(30_000), PEER],
  ])('KEY-03: X-Forwarded-For %#: a malformed right-most entry counts on the peer, others on the last good hop', (value, expected) => {
    expect(xff(value)).toBe(expected);
  });

  it('reads Forwarded from the right (RFC 7239)', () => {
    expect(read('Forwarded', 'for=6.6.6.6, for="[2001:db8:1:2::17]:4711";proto=https;by=_edge')).toBe('2001:db8:1:2::/64');
    expect(read('forwarded', 'For=6.6.6.6;proto=http, proto=https;FOR=203.0.113.7')).toBe('203.0.113.7');
    expect(read('Forwarded', 'for=203.0.113.7, for=_hidden')).toBe(PEER);
  });

  it('where both fields are there they must agree, else the peer counts', () => {
    expect(read('X-Forwarded-For', '203.0.113.7', 'Forwarded', 'for=203.0.113.7')).toBe('203.0.113.7');
    expect(read('X-Forwarded-For', '6.6.6.6', 'Forwarded', 'for=203.0.113.7')).toBe(PEER);
  });

  it('KEY-07: a connection without an address has a bucket of its own name', () => {
    expect(reader.read({ peerAddress: undefined, rawHeaders: [] })).toBe('unknown');
  });

  it('KEY-03: never throws and never yields anything but a partition', () => {
    const fields = fc.array(fc.tuple(fc.constantFrom('X-Forwarded-For', 'Forwarded'), fc.string({ unit: 'binary', maxLength: 60 })), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(fields, (lines) => /^([\d.]+|[\da-f:.]+\/64)$/.test(read(...lines.flat()))),
      { numRuns: 3000 },
    );
  });
});
