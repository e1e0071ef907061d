import { afterAll, describe, expect, it } from '@jest/globals';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JwtVerifier } from './jwt-verifier.js';

const file = join(mkdtempSync(join(tmpdir(), 'esclusa-')), 'jwks.json');
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
writeFileSync(file, JSON.stringify({ keys: [await exportJWK(publicKey)] }));
const ISSUER = 'https://login.example';
const issuer = { issuer: ISSUER, audience: 'api', jwks: { file }, algorithms: ['ES256'], claims: { tenant: 'org', user: 'sub' } };
const sign = (claims: Record<string, unknown>, expires: string | number = '5m'): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(ISSUER)
    .setAudience('api')
    .setExpirationTime(expires)
    .sign(privateKey);

describe('JwtVerifier', () => {
  const verifier = new JwtVerifier([issuer], { warn: () => undefined });
  afterAll(() => {
    verifier.close();
  });

  it('verifies copies of a token that come together once, and knows it afterwards without a promise', async () => {
    const token = await sign({ org: 'acme', sub: 'eve' });
    const first = verifier.verify(token);
    expect(verifier.verify(token)).toBe(first);
    expect(await first).toEqual({ claims: { tenant: 'acme', user: 'eve' } });
    expect(verifier.verify(token)).toEqual({ claims: { tenant: 'acme', user: 'eve' } });
  });

  it('does not remember tokens that failed, nor those that live on the clock tolerance', async () => {
    const bad = `${(await sign({ org: 'acme' })).slice(0, -8)}AAAAAAAA`;
    expect(await verifier.verify(bad)).toEqual({ failed: 'invalid' });
    expect(verifier.verify(bad)).toBeInstanceOf(Promise);
    const late = await sign({ org: 'acme' }, Math.floor(Date.now() / 1000) - 1);
    expect(await verifier.verify(late)).toMatchObject({ claims: { tenant: 'acme' } });
    expect(verifier.verify(late)).toBeInstanceOf(Promise);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a user that is no text', { org: 'acme', sub: 7 }],
    ['an empty user', { org: 'acme', sub: '' }],
    ['a tenant that is null', { org: null }],
    ['a tenant in a list', { org: ['acme'] }],
  ])('refuses %s', async (_what, claims) => {
    expect(await verifier.verify(await sign(claims))).toEqual({ failed: 'invalid' });
  });

  it('has no issuer by another name, whatever objects inherit', async () => {
    for (const iss of ['__proto__', 'constructor', '', `${ISSUER}/`]) {
      const token = await new SignJWT({ org: 'acme' })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(iss)
        .setAudience('api')
        .setExpirationTime('5m')
        .sign(privateKey);
      expect(await verifier.verify(token)).toEqual({ failed: 'invalid' });
    }
  });

  it('does not look into a token of more than 8 KiB', () => {
    expect(verifier.verify('a'.repeat(8193))).toEqual({ failed: 'invalid' });
  });
});
