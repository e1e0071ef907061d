import { describe, expect, it } from '@jest/globals';
import { walk } from './hops.js';

const trusted = (address: string): boolean => address.startsWith('t');

describe('walk', () => {
  it.each<[string, (string | undefined)[], string]>([
    ['the first untrusted entry is the caller', ['t1', 'caller', 'forged'], 'caller'],
    ['a malformed entry ends at the hop before it', ['t1', undefined, 'forged'], 't1'],
    ['a malformed right-most entry ends at the peer', [undefined, 'forged'], 'peer'],
    ['trusted entries alone end at the last of them', ['t1', 't2'], 't2'],
    ['no entries leave the peer', [], 'peer'],
  ])('%s', (_what, entries, caller) => {
    expect(walk(entries, 'peer', trusted)).toBe(caller);
  });

  it('looks at 32 entries and no further', () => {
    let asked = 0;
    const endless = (function* () {
      for (;;) yield `t${++asked}`;
    })();
    expect(walk(endless, 'peer', trusted)).toBe('t32');
    expect(asked).toBeLessThanOrEqual(33);
  });
});
