import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT, exportJWK, exportSPKI, generateKeyPair, type JWTPayload } from 'jose';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Identifier,
  apiKeyId,
  appendApiKey,
  createApiKey,
  digestApiKey,
  type Identification,
  type IdentifierOptions,
  type IdentityConfig,
  type JwtIssuer,
} from '#libs/identity';
import { startBackend, waitFor, type Backend } from '#libs/testing';

const PEPPER = 'a pepper for tests only';
const ISSUER = 'https://login.example';
const es256 = await generateKeyPair('ES256', { extractable: true });
const rotated = await generateKeyPair('ES256', { extractable: true });
const jwk = async (pair: typeof es256, kid: string) => ({ ...(await exportJWK(pair.publicKey)), kid, alg: 'ES256' });

const sign = (
  claims: JWTPayload,
  header: { alg?: string; kid?: string } = {},
  key: typeof es256.privateKey | Uint8Array = es256.privateKey,
  edit = (jwt: SignJWT) => jwt,
) =>
  edit(
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
      .setIssuer(ISSUER)
      .setAudience('api')
      .setIssuedAt()
      .setExpirationTime('5m'),
  ).sign(key);

const fileIssuer = (issuer: string, file: string): JwtIssuer => ({
  issuer,
  audience: 'api',
  jwks: { file },
  algorithms: ['ES256'],
  claims: { tenant: 'org', user: undefined },
});

describe('Identifier', () => {
  let jwks: Backend;
  let keys: object[];
  let up = true;
  let fetches = 0;
  const open: Identifier[] = [];
  const warnings: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'esclusa-'));
  const keyFile = join(folder, 'api-keys.yaml');
  const key = createApiKey();
  const digest = digestApiKey(PEPPER, key);

  beforeAll(async () => {
    appendApiKey(keyFile, { id: apiKeyId(digest), digest, tenant: 'acme', user: 'bob', createdAt: '2026-12-01T00:00:00Z' });
    keys = [await jwk(es256, 'k1')];
    jwks = await startBackend((_request, response) => {
      fetches += 1;
      if (up) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
      else response.writeHead(500).end();
    });
  });
  afterAll(() => jwks.close());
  afterEach(() => {
    for (const identifier of open.splice(0)) identifier.close();
    up = true;
  });

  const create = (
    more: Partial<IdentityConfig> = {},
    log: IdentifierOptions['log'] = { warn: (message) => warnings.push(message), log: () => undefined },
  ): Identifier => {
    const identifier = Identifier.create(
      {
        trustedProxies: [],
        ipv6Prefix: 64,
        apiKeys: { header: 'x-api-key', file: keyFile },
        jwt: [
          {
            issuer: ISSUER,
            audience: 'api',
            jwks: { url: `${jwks.url}/jwks` },
            algorithms: ['ES256'],
            claims: { tenant: 'org', user: 'sub' },
          },
        ],
        ...more,
      },
      { pepper: PEPPER, log },
    );
    open.push(identifier);
    return identifier;
  };
  const identify = (identifier: Identifier, ...rawHeaders: string[]): Promise<Identification> =>
    Promise.resolve(identifier.identify({ rawHeaders, peerAddress: '203.0.113.7' }));
  const bearer = (identifier: Identifier, token: string): Promise<Identification> =>
    identify(identifier, 'Authorization', `Bearer ${token}`);

  it('knows a caller by API key, without a promise, and shows the key’s id only', () => {
    const who = create().identify({ rawHeaders: ['X-Api-Key', key], peerAddress: '203.0.113.7' });
    expect(who).toEqual({
      kind: 'identified',
      caller: { tenant: 'acme', user: 'bob', apiKey: apiKeyId(digest), ip: '203.0.113.7' },
      credential: 'api-key',
      dropAuthorization: false,
    });
  });

  it('knows a caller by JWT, and again without verifying within the minute', async () => {
    const identifier = create();
    const token = await sign({ org: 'acme', sub: 'eve' });
    expect(await bearer(identifier, token)).toMatchObject({
      kind: 'identified',
      caller: { tenant: 'acme', user: 'eve', apiKey: undefined },
    });
    expect(identifier.identify({ rawHeaders: ['authorization', `Bearer ${token}`], peerAddress: 'x' })).not.toBeInstanceOf(Promise);
  });

  it.each<[string, () => Promise<string>]>([
    ['has expired', () => sign({ org: 'a' }, {}, undefined, (jwt) => jwt.setExpirationTime(Math.floor(Date.now() / 1000) - 60))],
    ['is not valid yet', () => sign({ org: 'a' }, {}, undefined, (jwt) => jwt.setNotBefore('10m'))],
    ['is for another audience', () => sign({ org: 'a' }, {}, undefined, (jwt) => jwt.setAudience('other'))],
    ['is by another issuer', () => sign({ org: 'a' }, {}, undefined, (jwt) => jwt.setIssuer('https://evil.example'))],
    ['was signed with another key', () => sign({ org: 'a' }, {}, rotated.privateKey)],
    [
      'is HS256 under the public key',
      async () => sign({ org: 'a' }, { alg: 'HS256' }, new TextEncoder().encode(await exportSPKI(es256.publicKey))),
    ],
    [
      'says alg none',
      () =>
        Promise.resolve(
          `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ iss: ISSUER, aud: 'api', org: 'a', exp: 9e9 })).toString('base64url')}.`,
        ),
    ],
    [
      'has no expiry',
      () =>
        new SignJWT({ org: 'a' })
          .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
          .setIssuer(ISSUER)
          .setAudience('api')
          .sign(es256.privateKey),
    ],
    ['names no tenant', () => sign({ sub: 'u' })],
    ['names a tenant that is no text', () => sign({ org: ['a'] })],
    ['names an empty tenant', () => sign({ org: '' })],
    ['is larger than 8 KiB', () => sign({ org: 'a'.repeat(10_000) })],
    ['is no token', () => Promise.resolve('not.a.token')],
  ])('refuses a token that %s, and counts it on the address', async (_what, make) => {
    const who = await bearer(create(), await make());
    expect(who).toMatchObject({ kind: 'rejected', reason: 'invalid-credential', caller: { tenant: undefined, ip: '203.0.113.7' } });
  });

  it('KEY-09: one valid credential counts, an invalid one beside it does not, and an unverified bearer goes no further', async () => {
    const identifier = create();
    expect(await identify(identifier, 'x-api-key', 'random', 'authorization', `Bearer ${await sign({ org: 't' })}`)).toMatchObject({
      kind: 'identified',
      caller: { tenant: 't', apiKey: undefined },
      dropAuthorization: false,
    });
    for (const value of ['Bearer random', 'Bearer', `bearer\t${await sign({ org: 'a' })} x`]) {
      expect(await identify(identifier, 'x-api-key', key, 'authorization', value)).toMatchObject({
        kind: 'identified',
        caller: { tenant: 'acme' },
        credential: 'api-key',
        dropAuthorization: true,
      });
      expect(await identify(identifier, 'authorization', value)).toMatchObject({ kind: 'rejected', reason: 'invalid-credential' });
    }
  });

  it('two valid credentials must name the same caller', async () => {
    const identifier = create();
    const both = async (claims: JWTPayload) => identify(identifier, 'x-api-key', key, 'authorization', `Bearer ${await sign(claims)}`);
    expect(await both({ org: 'acme', sub: 'bob' })).toMatchObject({
      kind: 'identified',
      caller: { tenant: 'acme', user: 'bob', apiKey: apiKeyId(digest) },
    });
    expect(await both({ org: 'other', sub: 'bob' })).toMatchObject({ kind: 'rejected', reason: 'conflicting-credentials' });
    expect(await both({ org: 'acme', sub: 'eve' })).toMatchObject({ kind: 'rejected', reason: 'conflicting-credentials' });
  });

  it('takes tenants that are hostile text for what they are: text', async () => {
    for (const org of ['{a}', 'a:b', '\u0000', '\ud800']) {
      expect(await bearer(create(), await sign({ org }))).toMatchObject({ caller: { tenant: org } });
    }
  });

  it('fetches keys at most once in a while for key ids it does not know, however many tokens name them', async () => {
    const identifier = create();
    await bearer(identifier, await sign({ org: 'a' }));
    const before = fetches;
    for (let i = 0; i < 20; i += 1)
      expect((await bearer(identifier, await sign({ org: 'a' }, { kid: `k${i + 10}` }, rotated.privateKey))).kind).toBe('rejected');
    expect(fetches - before).toBeLessThanOrEqual(1);
  });

  it('a dead JWKS server does not invalidate known keys; without any keys the bearer is not to blame', async () => {
    const identifier = create();
    await bearer(identifier, await sign({ org: 'a' }));
    up = false;
    expect(await bearer(identifier, await sign({ org: 'b' }))).toMatchObject({ kind: 'identified' });
    expect(await bearer(create(), await sign({ org: 'c' }))).toMatchObject({ kind: 'rejected', reason: 'keys-unavailable' });
  });

  it('asks a failing JWKS server at most once a second, however many tokens come', async () => {
    up = false;
    const identifier = create();
    const startedAtMs = performance.now();
    const before = fetches;
    for (let i = 0; i < 50; i += 1)
      expect(await bearer(identifier, await sign({ org: 'a', i }))).toMatchObject({ reason: 'keys-unavailable' });
    expect(fetches - before).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAtMs) / 1000));
    up = true;
    await waitFor(async () => (await bearer(identifier, await sign({ org: 'a' }))).kind === 'identified', { what: 'the keys' });
  });

  it('KEY-13: a JWKS server that fails is told without what its URL holds', async () => {
    warnings.length = 0;
    const { port } = new URL(jwks.url);
    for (const url of [`http://user:MARKERsecret@127.0.0.1:${port}/jwks`, 'http://127.0.0.1:1/jwks?token=MARKERsecret'])
      create({ jwt: [{ ...fileIssuer(ISSUER, ''), jwks: { url } }] });
    await waitFor(() => warnings.length === 2, { what: 'the warnings' });
    expect(warnings.join()).toContain('/jwks: no new keys');
    expect(warnings.join()).not.toContain('MARKERsecret');
  });

  it('reads a JWKS file again when it changes', async () => {
    const file = join(folder, 'jwks.json');
    writeFileSync(file, JSON.stringify({ keys: [await jwk(es256, 'k1')] }));
    const identifier = create({ jwt: [fileIssuer(ISSUER, file)] });
    expect((await bearer(identifier, await sign({ org: 'a' }, { kid: 'k2' }, rotated.privateKey))).kind).toBe('rejected');
    writeFileSync(file, JSON.stringify({ keys: [await jwk(rotated, 'k2')] }));
    await waitFor(
      async () => (await bearer(identifier, await sign({ org: 'a' }, { kid: 'k2' }, rotated.privateKey))).kind === 'identified',
      { what: 'the new key' },
    );
  });

  it('a half-written key file keeps the keys as they were, and is told once', async () => {
    const file = join(folder, 'other-keys.yaml');
    appendApiKey(file, { id: apiKeyId(digest), digest, tenant: 'acme', createdAt: 'x' });
    const identifier = create({ apiKeys: { header: 'x-api-key', file } });
    warnings.length = 0;
    writeFileSync(file, 'version: 1\nkeys: [{ id');
    await waitFor(() => warnings.length > 0, { what: 'the warning' });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(warnings).toHaveLength(1);
    expect(await identify(identifier, 'x-api-key', key)).toMatchObject({ kind: 'identified' });
  });

  it.each<[string, Partial<IdentityConfig>, string | undefined, RegExp]>([
    ['the pepper', {}, undefined, /API_KEY_PEPPER: missing/],
    ['a pepper that is long enough', {}, 'short', /API_KEY_PEPPER: allowed: .*16 characters/],
    ['a list of proxies that are addresses', { trustedProxies: ['10.0.0.0/'] }, PEPPER, /10\.0\.0\.0\/.*allowed/],
    [
      'one meaning for each issuer',
      { jwt: [ISSUER, ISSUER].map((issuer) => fileIssuer(issuer, keyFile)) },
      PEPPER,
      /issuer .*allowed: once/,
    ],
    ['a JWKS in the JWKS file', { jwt: [fileIssuer(ISSUER, keyFile)] }, PEPPER, /api-keys\.yaml: allowed: a JSON Web Key Set/],
    ['the key file', { apiKeys: { header: 'x-api-key', file: '/nowhere/keys.yaml' } }, PEPPER, /ENOENT.*nowhere/],
    ['a JWKS file', { jwt: [fileIssuer('a', '/nowhere/jwks.json')] }, PEPPER, /nowhere/],
  ])('does not start without %s', (_what, more, pepper, told) => {
    const config = { trustedProxies: [], ipv6Prefix: 64, apiKeys: { header: 'x-api-key', file: keyFile }, jwt: [], ...more };
    expect(() => Identifier.create(config, { pepper, log: { warn: () => undefined, log: () => undefined } })).toThrow(told);
  });

  it('KEY-07: warns once a minute about connections without an address', () => {
    const identifier = create();
    warnings.length = 0;
    for (let i = 0; i < 20; i += 1) expect(identifier.address({ rawHeaders: [], peerAddress: undefined }).ip).toBe('unknown');
    expect(warnings).toHaveLength(1);
    expect(identifier.addressless).toBe(20);
  });

  it('KEY-13: neither what is shown nor what is logged holds a credential', async () => {
    const marker = 'MARKERsecret';
    const logged: string[] = [];
    const note = (message: string): number => logged.push(message);
    const identifier = create({}, { warn: note, log: note });
    const shown = [
      await identify(identifier, 'x-api-key', `esc_${marker}`),
      await identify(identifier, 'x-api-key', key, 'x-api-key', marker),
      await identify(identifier, 'authorization', `Bearer ${marker}`),
      await identify(identifier, 'authorization', `Bearer ${await sign({ org: 'a', note: marker }, {}, rotated.privateKey)}`),
      await identify(identifier, 'x-api-key', key, 'authorization', `Bearer ${await sign({ org: marker })}`),
    ];
    expect(shown.map((who) => who.kind)).toEqual(Array(5).fill('rejected'));
    expect(JSON.stringify([shown, logged])).not.toContain(marker);
    expect(JSON.stringify([shown, logged])).not.toContain(key);
  });
});
