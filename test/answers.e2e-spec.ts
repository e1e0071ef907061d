import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseList } from 'structured-headers';
import { answerJson } from '#libs/testing';
import { bucket, policy, startEdge, WIDE, type TestEdge } from './support/edge.js';
import { ask, tally, times } from './support/http.js';

describe('a refused request', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge({
      policies: [
        policy('burst', ['tenant'], bucket(10, '10/3600')),
        policy('daily', ['tenant'], bucket(1000, '1000/86400')),
        policy('rarely', ['tenant'], bucket(3, '1/60'), { routes: ['rare'] }),
        ...WIDE,
      ],
      routes: [
        { name: 'all', path: '/*' },
        { name: 'rare', path: '/rare' },
        { name: 'dear', path: '/dear', cost: 11 },
      ],
      callers: { a: { tenant: 'a' }, b: { tenant: 'b' }, c: { tenant: 'c' }, d: { tenant: 'd' }, e: { tenant: 'e' } },
    });
  });
  afterAll(() => edge.close());

  const as = (who: string, more: Record<string, string> = {}) => ({ headers: { 'x-api-key': edge.keys[who] ?? '', ...more } });

  it('is a 429 with a problem document that names the policy, never stored by caches', async () => {
    const answers = await times(12, () => ask(edge.url, '/x', as('a')));
    expect(tally(answers)).toEqual({ 200: 10, 429: 2 });
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '360',
      'ratelimit-policy': '"burst";q=10;w=3600, "daily";q=1000;w=86400',
    });
    expect(refused.headers.ratelimit).toBe('"burst";r=0;t=360');
    expect(refused.json()).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      status: 429,
      'violated-policies': ['burst'],
    });
  });

  it('RESP-01: is admitted after Retry-After, which is a whole second at least', async () => {
    const fast = await startEdge({ policies: [policy('fast', ['tenant'], bucket(1, '2/3')), ...WIDE], callers: { b: { tenant: 'b' } } });
    const asB = { headers: { 'x-api-key': fast.keys.b ?? '' } };
    await ask(fast.url, '/x', asB);
    const refused = await ask(fast.url, '/x', asB);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers['retry-after']);
    expect([1, 2]).toContain(seconds);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    expect((await ask(fast.url, '/x', asB)).status).toBe(200);
    await fast.close();
  });

  it('RESP-05: every policy is listed by name, the state is of the one with the least left or of the one that refuses', async () => {
    const first = await ask(edge.url, '/rare', as('c'));
    expect(first.headers['ratelimit-policy']).toBe('"burst";q=10;w=3600, "daily";q=1000;w=86400, "rarely";q=3;w=180');
    expect(first.headers.ratelimit).toBe('"rarely";r=2;t=120');
    await times(2, () => ask(edge.url, '/rare', as('c')));
    const refused = await ask(edge.url, '/rare', as('c'));
    expect(refused.headers.ratelimit).toBe('"rarely";r=0;t=60');
    for (const { headers } of [first, refused]) {
      expect(() => parseList(String(headers.ratelimit))).not.toThrow();
      expect(() => parseList(String(headers['ratelimit-policy']))).not.toThrow();
    }
  });

  it("RESP-05: an upstream's own RateLimit fields are replaced by ours", async () => {
    edge.backend.handleWith((_request, response) => {
      response.writeHead(200, { RateLimit: '"theirs";r=1', 'RateLimit-Policy': '"theirs";q=1', 'X-RateLimit-Limit': '1' }).end('{}');
    });
    const answer = await ask(edge.url, '/x', as('d'));
    edge.backend.handleWith(answerJson({ ok: true }));
    expect(answer.headers.ratelimit).toMatch(/^"burst"/);
    expect(answer.headers['ratelimit-policy']).not.toContain('theirs');
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
  });

  it('whose cost can never fit has no Retry-After, and says that waiting does not help', async () => {
    const answer = await ask(edge.url, '/dear', as('d'));
    expect(answer.status).toBe(429);
    expect(answer.headers).not.toHaveProperty('retry-after');
    expect(answer.json().detail).toContain('waiting does not help');
    expect(answer.json()['violated-policies']).toEqual(['burst']);
  });

  it('RESP-09: is not cacheable even where the upstream’s answers are', async () => {
    await times(12, () => ask(edge.url, '/public', as('e')));
    const refused = await ask(edge.url, '/public', as('e'));
    expect([refused.status, refused.headers['cache-control']]).toEqual([429, 'no-store']);
    expect((await ask(edge.url, '/public', as('d'))).status).toBe(200);
  });

  it('shows scripts of other origins its budget fields, admitted or not', async () => {
    const admitted = await ask(edge.url, '/x', as('d', { origin: 'https://app.example' }));
    expect(admitted.headers['access-control-expose-headers']).toBe('RateLimit, RateLimit-Policy, Retry-After, Proxy-Status, X-Request-Id');
    const refused = await ask(edge.url, '/dear', as('d', { origin: 'https://app.example' }));
    expect(refused.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After, Proxy-Status, X-Request-Id',
    });
  });
});

describe('the dialect of the budget fields', () => {
  it.each([
    ['draft-12', { 'ratelimit-policy': '"q";q=10;w=2', ratelimit: '"q";a=9;w=2;c=1' }, 'x-ratelimit-limit'],
    [
      'github',
      { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9', 'x-ratelimit-used': '1', 'x-ratelimit-resource': 'all' },
      'ratelimit',
    ],
    ['off', {}, 'ratelimit'],
  ])('%s', async (dialect, expected, absent) => {
    const edge = await startEdge({
      policies: [policy('q', ['tenant'], bucket(10, 5)), ...WIDE],
      callers: { a: { tenant: 'a' } },
      env: { RATELIMIT_HEADERS: dialect },
    });
    const answer = await ask(edge.url, '/x', { headers: { 'x-api-key': edge.keys.a ?? '' } });
    await edge.close();
    expect(answer.headers).toMatchObject(expected);
    expect(answer.headers).not.toHaveProperty(absent);
    expect(answer.status).toBe(200);
  });
});

describe('CORS preflights', () => {
  it('RESP-07: cost the caller nothing, are charged to their address, and a plain OPTIONS counts like any request', async () => {
    const edge = await startEdge({
      routes: [{ name: 'api', path: '/api', methods: ['GET', 'OPTIONS'], auth: 'required' }],
      policies: [policy('user', ['user'], bucket(10, '1/60')), policy('address', ['ip'], bucket(60, '1/60'))],
      callers: { a: { tenant: 'a', user: 'u' } },
    });
    const preflight = { method: 'OPTIONS', headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' } };
    const get = { headers: { 'x-api-key': edge.keys.a ?? '' } };
    const pairs = await times(10, async () => [await ask(edge.url, '/api', preflight), await ask(edge.url, '/api', get)]);
    expect(tally(pairs.flat())).toEqual({ 200: 20 });
    expect(tally(await times(60, () => ask(edge.url, '/api', preflight)))).toEqual({ 200: 50, 429: 10 });
    expect((await ask(edge.url, '/api', { ...get, method: 'OPTIONS' })).json()['violated-policies']).toEqual(['user']);
    await edge.close();
  });
});

describe('GET /rate-limit', () => {
  it('tells a caller its budgets without spending them, and is itself limited by address', async () => {
    const edge = await startEdge({
      policies: [policy('requests', ['tenant', 'route'], bucket(10, '1/60')), policy('address', ['ip'], bucket(5, '1/60'))],
      tenants: { a: { tier: 'pro' } },
      callers: { a: { tenant: 'a' } },
    });
    const as = { headers: { 'x-api-key': edge.keys.a ?? '' } };
    await times(3, () => ask(edge.url, '/x', as));
    const report = await ask(edge.url, '/rate-limit?route=all', as);
    expect(report.json()).toEqual({
      caller: { tenant: 'a', tier: 'pro' },
      limitsRevision: 7,
      routes: [
        {
          route: 'all',
          policies: [
            expect.objectContaining({ policy: 'requests', per: ['tenant', 'route'], quota: 10, windowSeconds: 600, remaining: 7 }),
          ],
        },
      ],
    });
    const rest = await times(6, () => ask(edge.url, '/rate-limit', as));
    expect(tally(rest)).toEqual({ 200: 4, 429: 2 });
    expect(rest.find(({ status }) => status === 200)?.headers.ratelimit).toContain('"address"');
    expect((await ask(edge.url, '/x', as)).headers.ratelimit).toContain('r=6');
    await edge.close();
  });
});
