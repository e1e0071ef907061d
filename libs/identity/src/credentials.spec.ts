import { describe, expect, it } from '@jest/globals';
import { readCredentials } from './credentials.js';

describe('readCredentials', () => {
  it('reads the key field and the bearer token as they were sent', () => {
    expect(readCredentials(['X-API-Key', 'k', 'Authorization', 'bearer t'], 'x-api-key', true)).toEqual({ apiKey: 'k', bearer: 't' });
  });

  it('KEY-17: the same field with different values conflicts, with equal ones it does not', () => {
    expect(readCredentials(['x-api-key', 'a', 'X-Api-Key', 'b'], 'x-api-key', true)).toBe('conflicting');
    expect(readCredentials(['authorization', 'Bearer a', 'Authorization', 'Bearer b'], 'x-api-key', true)).toBe('conflicting');
    expect(readCredentials(['x-api-key', 'a', 'X-Api-Key', 'a'], 'x-api-key', true)).toEqual({ apiKey: 'a', bearer: undefined });
  });

  it.each(['Bearer', 'Bearer a b', 'Bearer\ta b', 'Bearer,a', 'Bearer a, Bearer b', 'BEARER="a"', 'Bearer\u00a0a b'])(
    'KEY-09: %j is a bearer token, if a bad one: an upstream may read it as a good one',
    (value) => {
      expect(readCredentials(['authorization', value], 'x-api-key', true)).toMatchObject({ bearer: expect.any(String) });
    },
  );

  it.each(['Bearerish a', 'Bearer-x a', 'Basic Bearer', ''])('%j is not', (value) => {
    expect(readCredentials(['authorization', value], 'x-api-key', true)).toMatchObject({ bearer: undefined });
  });

  it('leaves an Authorization that is not ours alone', () => {
    expect(readCredentials(['authorization', 'Basic x'], 'x-api-key', true)).toEqual({ apiKey: undefined, bearer: undefined });
    expect(readCredentials(['authorization', 'Bearer a', 'authorization', 'Bearer b'], 'x-api-key', false)).toEqual({
      apiKey: undefined,
      bearer: undefined,
    });
  });
});
