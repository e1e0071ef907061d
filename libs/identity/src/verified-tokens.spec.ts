import { describe, expect, it } from '@jest/globals';
import { VerifiedTokens } from './verified-tokens.js';

const claims = (tenant: string) => ({ tenant, user: undefined });

describe('VerifiedTokens', () => {
  it('knows a token until its time is up', () => {
    const tokens = new VerifiedTokens(2);
    tokens.set('a', claims('x'), 1000);
    expect(tokens.get('a', 999)).toEqual(claims('x'));
    expect(tokens.get('a', 1000)).toBeUndefined();
    expect(tokens.get('a', 0)).toBeUndefined();
  });

  it('lets go of the token that was not used for longest when it is full', () => {
    const tokens = new VerifiedTokens(2);
    tokens.set('a', claims('x'), 1000);
    tokens.set('b', claims('y'), 1000);
    tokens.get('a', 0);
    tokens.set('c', claims('z'), 1000);
    expect(['a', 'b', 'c'].map((hash) => tokens.get(hash, 0)?.tenant)).toEqual(['x', undefined, 'z']);
  });
});
