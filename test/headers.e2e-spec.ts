import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bucket, policy, startEdge, WIDE, type TestEdge } from './support/edge.js';
import { ask, askRaw } from './support/http.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const edgeWith = (trusted: readonly string[]): Promise<TestEdge> =>
  startEdge({
    callers: { acme: { tenant: 'acme', user: 'u-1' } },
    edge: { trustedProxies: trusted },
    routes: [
      { name: 'report', path: '/report', methods: ['GET'] },
      { name: 'strict', path: '/strict/*', strictPath: true },
      { name: 'all', path: '/*' },
    ],
    policies: [...WIDE, policy('five', ['ip'], bucket(5, '5/3600'), { routes: ['report'] })],
  });

describe('header fields from outside', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await edgeWith([]);
  });
  beforeEach(() => {
    edge.backend.forget();
  });
  afterAll(() => edge.close());
  const last = () => edge.backend.requests.at(-1)?.headers ?? {};

  it('say nothing about who the caller is: the edge tells its upstreams', async () => {
    const claims = { 'x-esclusa-tenant': 'other', 'x-esclusa-user': 'root', 'X-Esclusa-Tier': 'gold' };
    await ask(edge.url, '/a', { headers: claims });
    expect([last()['x-esclusa-tenant'], last()['x-esclusa-user'], last()['x-esclusa-tier']]).toEqual([undefined, undefined, undefined]);
    await ask(edge.url, '/a', { headers: { ...claims, 'x-api-key': edge.keys.acme as string } });
    expect([last()['x-esclusa-tenant'], last()['x-esclusa-user'], last()['x-api-key']]).toEqual(['acme', 'u-1', undefined]);
  });

  it('of a stranger start a new chain of hops, a new request id and a new trace', async () => {
    const said = {
      'x-forwarded-for': '1.2.3.4',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-proto': 'https',
      'x-request-id': 'theirs',
      traceparent: TRACE,
      tracestate: 'a=b',
    };
    const answer = await ask(edge.url, '/a', { headers: said });
    const { host } = new URL(edge.url);
    expect(last()).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http', via: '1.1 esclusa' });
    expect(last().forwarded).toBe(`for=127.0.0.1;host="${host}";proto=http;by=_esclusa`);
    expect(last()['x-request-id']).toMatch(UUID);
    expect(answer.headers['x-request-id']).toBe(last()['x-request-id']);
    expect(last().traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    expect(String(last().traceparent)).not.toContain(TRACE.slice(3, 35));
    expect(last().tracestate).toBeUndefined();
  });

  it('HTTP-17: request ids that are none are replaced; none of them makes a 500', async () => {
    for (const id of ['a'.repeat(8000), 'caf\u00e9', 'a b', '"', '']) {
      const answer = await ask(edge.url, '/a', { headers: ['host', 'x', 'x-request-id', id] });
      expect([answer.status, UUID.test(String(answer.headers['x-request-id']))]).toEqual([200, true]);
    }
    expect(await askRaw(edge.url, 'GET /a HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\u0001b\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('HTTP-05: HEAD is charged as GET, refused without a body; unknown methods are 501', async () => {
    for (let i = 0; i < 5; i += 1) expect((await ask(edge.url, '/report', { method: 'HEAD' })).status).toBe(200);
    expect((await ask(edge.url, '/report')).status).toBe(429);
    const refused = await askRaw(edge.url, 'HEAD /report HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(refused).toMatch(/^HTTP\/1\.1 429 [\s\S]*\r\nRetry-After: \d+\r\n[\s\S]*\r\n\r\n$/i);
    expect(refused).toMatch(/\r\nContent-Length: [1-9]\d*\r\n/i);
    expect(await askRaw(edge.url, 'FOO /report HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 501 /);
  });

  it('a strict route refuses what another would put right', async () => {
    expect((await ask(edge.url, '/strict/a/b')).status).toBe(200);
    for (const path of ['/strict/%61/b', '/strict//a', '/strict/./a']) {
      expect([path, (await ask(edge.url, path)).status]).toEqual([path, 400]);
    }
  });
});

describe('header fields from a trusted proxy', () => {
  it('go on: its hops, its request id, its trace', async () => {
    const edge = await edgeWith(['127.0.0.0/8']);
    const said = {
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-request-id': 'theirs-1',
      traceparent: TRACE,
      tracestate: 'a=b',
    };
    const answer = await ask(edge.url, '/a', { headers: said });
    const got = edge.backend.requests[0]?.headers ?? {};
    expect(got).toMatchObject({
      'x-forwarded-for': '203.0.113.7, 127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-request-id': 'theirs-1',
      tracestate: 'a=b',
    });
    expect(got.forwarded).toMatch(/^for=203\.0\.113\.7, for=127\.0\.0\.1;/);
    expect(got.traceparent).toContain(TRACE.slice(3, 35));
    expect(answer.headers['x-request-id']).toBe('theirs-1');
    await edge.close();
  });
});
