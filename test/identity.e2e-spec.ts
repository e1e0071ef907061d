import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeApiKey } from '#libs/identity';
import { connectRedis } from '#libs/redis';
import { sharedRedisUrl, waitFor } from '#libs/testing';
import { bucket, policy, startEdge, type TestEdge } from './support/edge.js';
import { ask, askRaw, tally, times } from './support/http.js';

const ISSUER = 'https://login.example';
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
const jwksFile = join(mkdtempSync(join(tmpdir(), 'esclusa-jwks-')), 'jwks.json');
writeFileSync(jwksFile, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] }));

const jwt = {
  jwt: [{ issuer: ISSUER, audience: 'api', jwks: { file: jwksFile }, algorithms: ['ES256'], claims: { tenant: 'org', user: 'sub' } }],
};
const token = (
  claims: JWTPayload,
  more: { readonly expires?: string | number; readonly key?: typeof privateKey | Uint8Array; readonly alg?: string } = {},
) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: more.alg ?? 'ES256', kid: 'k1' })
    .setIssuer(ISSUER)
    .setAudience('api')
    .setIssuedAt()
    .setExpirationTime(more.expires ?? '5m')
    .sign(more.key ?? privateKey);

const perUser = (capacity = 5) => policy('user', ['user'], bucket(capacity, '1/3600'));
const perAddress = (capacity = 5) => policy('address', ['ip'], bucket(capacity, `${capacity}/3600`));

describe('who is charged', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge({
      identity: jwt,
      policies: [perUser(), perAddress()],
      callers: Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { tenant: name, user: `user-${name}` }])),
    });
  });
  afterAll(() => edge.close());

  it('KEY-09: a valid token with a random API key each time stays one caller', async () => {
    const bearer = `Bearer ${await token({ org: 'j1', sub: 'u' })}`;
    const answers = await times(30, (i) =>
      ask(edge.url, '/x', { headers: { authorization: bearer, 'x-api-key': `random-${i}` }, from: '127.0.1.1' }),
    );
    expect(tally(answers)).toEqual({ 200: 5, 429: 25 });
  });

  it('KEY-09: a valid API key with a random bearer each time stays one caller, and the bearer goes no further', async () => {
    edge.backend.forget();
    const headers = (i: number) => ({ 'x-api-key': edge.keys.a ?? '', authorization: `Bearer random-${i}` });
    expect(tally(await times(30, (i) => ask(edge.url, '/x', { headers: headers(i), from: '127.0.1.2' })))).toEqual({ 200: 5, 429: 25 });
    for (const request of edge.backend.requests) {
      expect(request.headers).not.toHaveProperty('authorization');
      expect(request.headers).not.toHaveProperty('x-api-key');
    }
  });

  it('without a valid identity every request counts on its address, whatever it claims', async () => {
    const claims = async (i: number): Promise<Record<string, string>> =>
      [
        { 'x-api-key': `esc_${'x'.repeat(43)}000000` },
        { authorization: 'Bearer not.a.token' },
        { authorization: `Bearer ${await token({ org: 'a', sub: 'u' }, { expires: 1 })}` },
        { authorization: `Bearer ${await token({ org: 'a', sub: 'u' }, { alg: 'HS256', key: new Uint8Array(32) })}` },
        {},
      ][i % 5]!;
    const answers = [];
    for (let i = 0; i < 10; i += 1) answers.push(await ask(edge.url, '/x', { headers: await claims(i), from: '127.0.1.3' }));
    expect(tally(answers)).toEqual({ 401: 4, 200: 1, 429: 5 });
    expect(answers[0]?.headers['www-authenticate']).toBeDefined();
    expect((await ask(edge.url, '/x', { headers: { 'x-api-key': edge.keys.b ?? '' }, from: '127.0.1.3' })).headers.ratelimit).toContain(
      'r=4',
    );
  });

  it('two valid identities that disagree are a 400, charged to the address and to neither', async () => {
    const headers = { 'x-api-key': edge.keys.c ?? '', authorization: `Bearer ${await token({ org: 'other', sub: 'u' })}` };
    expect((await ask(edge.url, '/x', { headers, from: '127.0.1.4' })).status).toBe(400);
    const after = await ask(edge.url, '/x', { headers: { 'x-api-key': edge.keys.c ?? '' }, from: '127.0.1.4' });
    expect(after.headers.ratelimit).toContain('r=4');
  });

  it('KEY-17: the same field twice is a 400 where the values differ, and one caller where they agree', async () => {
    const twice = (one: string, two: string) =>
      ask(edge.url, '/x', { headers: ['host', 'x', 'x-api-key', one, 'X-Api-Key', two], from: '127.0.1.5' });
    expect((await twice(edge.keys.d ?? '', edge.keys.e ?? '')).status).toBe(400);
    const same = await twice(edge.keys.d ?? '', edge.keys.d ?? '');
    expect([same.status, same.headers.ratelimit]).toEqual([200, expect.stringContaining('r=4')]);
    const bearers = [
      'host',
      'x',
      'authorization',
      `Bearer ${await token({ org: 'x' })}`,
      'authorization',
      `Bearer ${await token({ org: 'y' })}`,
    ];
    expect((await ask(edge.url, '/x', { headers: bearers, from: '127.0.1.5' })).status).toBe(400);
  });

  it('a revoked key stops within seconds', async () => {
    const headers = { 'x-api-key': edge.keys.e ?? '' };
    expect((await ask(edge.url, '/x', { headers, from: '127.0.1.6' })).status).toBe(200);
    const { readFileSync } = await import('node:fs');
    const id = [...readFileSync(edge.files.keyFile, 'utf8').matchAll(/id: (k_\w+)/g)].at(-1)?.[1] ?? '';
    removeApiKey(edge.files.keyFile, id);
    await waitFor(async () => (await ask(edge.url, '/x', { headers, from: `127.0.2.${Math.ceil(Math.random() * 250)}` })).status === 401, {
      timeoutMs: 8000,
      what: 'the key to be refused',
    });
  });
});

describe('tenant ids that are hostile text', () => {
  it('never share a bucket and never start a fresh one', async () => {
    const edge = await startEdge({
      identity: jwt,
      policies: [policy('tenant', ['tenant'], bucket(3, '1/3600')), perAddress()],
      env: { REDIS_URL: sharedRedisUrl(), REDIS_DEADLINE_MS: 1000 },
    });
    await waitFor(
      async () =>
        (await ask(edge.url, '/x', { headers: { authorization: `Bearer ${await token({ org: 'warm' })}` } })).headers.ratelimit !==
        undefined,
      {
        what: 'the store',
      },
    );
    const run = `${Date.now()}`;
    const ids = [
      `{${run}}`,
      `${run}:tenant:b`,
      `${run}:tenant`,
      `}${run}{`,
      `${run}\u0000\r\n`,
      `${run}${'x'.repeat(5000)}`,
      `${run}${'x'.repeat(5001)}`,
      `%7B${run}%7D`,
      `${run}\ud800`,
      `${run}\ud801`,
    ];
    for (const org of ids) {
      const bearer = `Bearer ${await token({ org })}`;
      const answers = await times(5, () => ask(edge.url, '/x', { headers: { authorization: bearer } }));
      expect([org.slice(0, 40), tally(answers)]).toEqual([org.slice(0, 40), { 200: 3, 429: 2 }]);
    }
    await edge.close();
  });
});

describe('addresses', () => {
  const start = (trustedProxies: string[], capacity = 5) => startEdge({ edge: { trustedProxies }, policies: [perAddress(capacity)] });

  it('KEY-01: a forged left part of X-Forwarded-For changes nothing, behind one trusted proxy or two', async () => {
    const one = await start(['127.0.0.1/32']);
    const forged = (i: number) => ({ 'x-forwarded-for': `10.0.0.${i}, 203.0.113.7` });
    expect(tally(await times(20, (i) => ask(one.url, '/x', { headers: forged(i) })))).toEqual({ 200: 5, 429: 15 });
    await one.close();
    const two = await start(['127.0.0.1/32', '192.0.2.0/24']);
    const hops = (i: number) => ({ 'x-forwarded-for': `10.0.0.${i}, 203.0.113.7, 192.0.2.1` });
    expect(tally(await times(20, (i) => ask(two.url, '/x', { headers: hops(i) })))).toEqual({ 200: 5, 429: 15 });
    await two.close();
  });

  it('nobody is believed by default: X-Forwarded-For and Forwarded change nothing', async () => {
    const edge = await start([]);
    const headers = (i: number): Record<string, string> =>
      i % 2 === 0 ? { 'x-forwarded-for': `10.0.0.${i}` } : { forwarded: `for=10.0.0.${i}` };
    expect(tally(await times(20, (i) => ask(edge.url, '/x', { headers: headers(i) })))).toEqual({ 200: 5, 429: 15 });
    expect(edge.backend.requests.every((request) => request.headers['x-forwarded-for'] === '127.0.0.1')).toBe(true);
    await edge.close();
  });

  it('Forwarded from a trusted proxy is read from the right', async () => {
    const edge = await start(['127.0.0.1']);
    const headers = (i: number) => ({ forwarded: `for=10.0.0.${i}, for="[2001:db8:1:2::${i}]:4711";proto=https` });
    expect(tally(await times(20, (i) => ask(edge.url, '/x', { headers: headers(i) })))).toEqual({ 200: 5, 429: 15 });
    await edge.close();
  });

  it('KEY-03: garbage in forwarding headers is never an error and never a fresh bucket', async () => {
    const edge = await start(['127.0.0.1'], 10);
    const garbage = ['unknown', '_hidden', '1.2.3', '01.02.03.04', '', ' ,,, ', 'a, b, c, nonsense', '9'.repeat(12_000)];
    const answers = await times(24, (i) => ask(edge.url, '/x', { headers: { 'x-forwarded-for': garbage[i % garbage.length]! } }));
    expect(tally(answers)).toEqual({ 200: 10, 429: 14 });
    await edge.close();
  });

  it('KEY-07: connections without an address share one strict bucket', async () => {
    const { startSocketEdge } = await import('./support/unix-socket.js');
    const { edge, askSocket } = await startSocketEdge({ policies: [perAddress()] });
    expect(tally(await times(20, () => askSocket('/x')))).toEqual({ 200: 5, 429: 15 });
    expect((await ask(edge.gateway.adminUrl, '/metrics')).text).toContain('esclusa_addressless_requests_total 20');
    await edge.close();
  });
});

describe('secrets', () => {
  it('KEY-13: no credential appears in Redis, logs, metrics or answers', async () => {
    const marker = 'MARKERsecret';
    const written: string[] = [];
    const original = { out: process.stdout.write.bind(process.stdout), err: process.stderr.write.bind(process.stderr) };
    const capture = (chunk: unknown): boolean => {
      written.push(String(chunk));
      return true;
    };
    process.stdout.write = capture;
    process.stderr.write = capture;
    const answers: string[] = [];
    let edge: TestEdge | undefined;
    let redisText = '';
    try {
      edge = await startEdge({
        identity: jwt,
        policies: [perUser(2), perAddress(3)],
        callers: { a: { tenant: `t${Date.now()}`, user: 'u' } },
        env: { REDIS_URL: sharedRedisUrl(), REDIS_DEADLINE_MS: 1000, LOG_LEVEL: 'debug' },
      });
      const secrets: Record<string, string>[] = [
        { 'x-api-key': `esc_${marker}` },
        { authorization: `Bearer ${marker}.a.b` },
        { cookie: `session=${marker}` },
        { 'x-api-key': edge.keys.a ?? '' },
      ];
      for (let i = 0; i < 24; i += 1) {
        const answer = await ask(edge.url, `/x?token=${marker}`, { headers: secrets[i % 4]! });
        answers.push(answer.text + JSON.stringify(answer.headers));
      }
      answers.push((await ask(edge.gateway.adminUrl, '/metrics')).text);
      const client = connectRedis({ url: sharedRedisUrl(), deadlineMs: 1000, scripts: [], connectionName: 'scan' });
      await waitFor(() => client.connected, { what: 'Redis' });
      redisText = JSON.stringify(await client.command('KEYS', '*'));
      await client.close();
      await edge.close();
    } finally {
      process.stdout.write = original.out;
      process.stderr.write = original.err;
    }
    const everything = answers.join('\n') + written.join('\n') + redisText;
    expect(everything).not.toContain(marker);
    expect(everything).not.toContain(edge.keys.a ?? 'no key');
    expect(written.join('')).toContain('refused');
  });

  it('a raw request whose headers cannot be read is answered 400 and takes nothing', async () => {
    const edge = await startEdge({ policies: [perAddress(2)] });
    const answer = await askRaw(edge.url, 'GET /x HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect(tally(await times(3, () => ask(edge.url, '/x')))).toEqual({ 200: 2, 429: 1 });
    await edge.close();
  });
});
