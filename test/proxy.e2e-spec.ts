import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, createServer, type AddressInfo } from 'node:net';
import { answerAfter, answerJson, drip, resetConnection, waitFor } from '#libs/testing';
import { toGatewayEnv } from '../apps/gateway/src/gateway.env.js';
import { startGateway } from '../apps/gateway/src/start-gateway.js';
import { bucket, policy, startEdge, writeEdge, type TestEdge } from './support/edge.js';
import { ask, askRaw, tally, times } from './support/http.js';

describe('the proxy', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge({
      routes: [
        { name: 'all', path: '/*' },
        { name: 'tight', path: '/tight' },
      ],
      policies: [policy('wide', ['ip'], bucket(10_000, 1000)), policy('tight', ['ip', 'route'], bucket(1, '1/600'), { routes: ['tight'] })],
    });
  });
  afterAll(() => edge.close());

  it('passes method, path, query, body and answer through', async () => {
    edge.backend.forget();
    edge.backend.handleWith((request, response) => {
      response.writeHead(201, 'Made', { 'X-Made': 'yes', 'Set-Cookie': ['a=1', 'b=2'] });
      request.pipe(response);
    });
    const answer = await ask(edge.url, '/things/1?q=a%20b&q=2', { method: 'PUT', headers: { 'content-type': 'text/odd' }, body: 'a body' });
    expect([answer.status, answer.text, answer.headers['x-made'], answer.headers['set-cookie']]).toEqual([
      201,
      'a body',
      'yes',
      ['a=1', 'b=2'],
    ]);
    expect(edge.backend.requests[0]).toMatchObject({ method: 'PUT', url: '/things/1?q=a%20b&q=2', bodyText: 'a body' });
  });

  it('streams uploads of any size and kind through', async () => {
    edge.backend.forget();
    edge.backend.handleWith(answerJson({ ok: true }));
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'odd']) {
      expect(
        (await ask(edge.url, '/upload', { method: 'POST', headers: { 'content-type': type }, body: '{'.repeat(3_000_000) })).status,
      ).toBe(200);
    }
    expect(edge.backend.requests.map(({ bodyBytes }) => bodyBytes)).toEqual(Array(5).fill(3_000_000));
    const untyped = await askRaw(
      edge.url,
      'PUT /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      /ok/,
    );
    expect(untyped).toMatch(/^HTTP\/1\.1 200/);
    expect(edge.backend.requests.at(-1)).toMatchObject({ method: 'PUT', bodyText: 'abc' });
  });

  it('streams: the first bytes arrive while the upstream is still sending', async () => {
    edge.backend.handleWith(drip(['one', 'two', 'three'], 60));
    const partial = await askRaw(edge.url, 'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n', /one/);
    expect(partial).not.toContain('three');
  });

  it('refuses before any byte of the body is read', async () => {
    edge.backend.handleWith((_request, response) => response.end('ok'));
    await ask(edge.url, '/tight');
    edge.backend.forget();
    const answer = await askRaw(edge.url, 'POST /tight HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n', /\r\n\r\n[\s\S]*quota/);
    expect(answer).toMatch(/^HTTP\/1\.1 429/);
    expect(edge.backend.requests).toEqual([]);
  });

  it('answers 502 where the upstream breaks off before its head, and cuts the connection where it does so in the body', async () => {
    edge.backend.handleWith(resetConnection());
    const early = await ask(edge.url, '/x');
    expect([early.status, early.headers['content-type']]).toEqual([502, 'application/problem+json']);
    edge.backend.handleWith((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(ask(edge.url, '/x')).rejects.toThrow();
  });

  it('passes fields on byte for byte, and answers 502 for a head that cannot be sent on', async () => {
    const odd = createServer((socket) => {
      socket.once('data', (request) => {
        const field = request.includes('/control') ? 'X-Odd: a\u0001b' : 'X-Odd: caf\u00c3\u00a9 \u00e9';
        socket.end(Buffer.from(`HTTP/1.1 200 OK\r\n${field}\r\nContent-Length: 2\r\n\r\nok`, 'latin1'));
      });
    });
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
    const files = writeEdge(`http://127.0.0.1:${(odd.address() as AddressInfo).port}`, {
      policies: [policy('wide', ['ip'], bucket(100, 10))],
    });
    const gateway = await startGateway(toGatewayEnv({ ...files.env, STORE: 'memory' }));
    const passed = await ask(gateway.url, '/bytes');
    expect([passed.status, passed.headers['x-odd']]).toEqual([200, 'caf\u00c3\u00a9 \u00e9']);
    expect((await ask(gateway.url, '/control')).status).toBe(502);
    await gateway.close();
    odd.close();
    files.remove();
  });

  it('answers without a body stay so: HEAD, 204 and 304', async () => {
    edge.backend.handleWith((request, response) => {
      const status = Number(/\/(\d+)$/.exec(request.url ?? '')?.[1]);
      response.writeHead(status, status === 200 ? { 'content-length': '5' } : {}).end(status === 200 ? 'hello' : undefined);
    });
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 304],
    ] as const) {
      const answer = await ask(edge.url, `/status/${status}`, { method });
      expect([answer.status, answer.text]).toEqual([status, '']);
    }
  });

  it('cancels the upstream call when the caller leaves', async () => {
    edge.backend.forget();
    edge.backend.handleWith(answerAfter(5000));
    const caller = connect(Number(new URL(edge.url).port), '127.0.0.1');
    caller.write('GET /left HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor(() => edge.backend.requests.length > 0, { what: 'the request to arrive' });
    caller.destroy();
    await waitFor(() => edge.backend.requests.some(({ aborted }) => aborted), { what: 'the upstream call to be cancelled' });
    expect((await ask(edge.gateway.adminUrl, '/metrics')).text).toMatch(/esclusa_in_flight\{criticality="sheddable"\} 0/);
  });

  it('ALG-17: an upstream that fails late gives nothing back: no credit, no negative state', async () => {
    const failing = await startEdge({
      policies: [policy('ten', ['tenant'], bucket(10, 10)), policy('wide', ['ip'], bucket(1000, 100))],
      callers: { a: { tenant: 'a' } },
    });
    failing.backend.handleWith((_request, response) => {
      setTimeout(() => response.writeHead(500).end(), 1500);
    });
    const as = { headers: { 'x-api-key': failing.keys.a ?? '' } };
    expect(tally(await times(10, () => ask(failing.url, '/x', as)))).toEqual({ 500: 10 });
    failing.backend.handleWith((_request, response) => response.end('ok'));
    const startedAtMs = performance.now();
    const burst = await times(25, () => ask(failing.url, '/x', as));
    const refilled = Math.ceil(((performance.now() - startedAtMs) / 1000) * 10);
    // Ten from the refilled bucket, and what flows in during the burst itself.
    const admitted = tally(burst)[200] ?? 0;
    expect(admitted).toBeGreaterThanOrEqual(10);
    expect(admitted).toBeLessThanOrEqual(10 + refilled);
    await failing.close();
  });
});
