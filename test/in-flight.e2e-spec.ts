import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, waitFor } from '#libs/testing';
import { bucket, policy, startEdge, WIDE, type TestEdge } from './support/edge.js';
import { ask, tally, times } from './support/http.js';

const STREAMS = 10;
const ROUNDS = process.env.ESCLUSA_LONG === undefined ? 3 : 20;

/** Permits come with the concurrency limiter; what holds them, and must let go of them, is there already. */
describe('what is in flight', () => {
  let edge: TestEdge;
  let events = 0;
  let aborted = 0;
  const upstream = createServer((request, response) => {
    const { url = '' } = request;
    if (url === '/reset/head') response.socket?.resetAndDestroy();
    else if (url === '/reset/body') {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.socket?.resetAndDestroy());
    } else if (url === '/garbled') response.socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    else if (url === '/events') {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        events += 1;
      });
      response.once('close', () => (aborted += 1));
    } else if (url !== '/late' && url !== '/silent') request.resume().on('end', () => response.end('ok'));
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    edge = await startEdge({
      routes: [
        { name: 'refused', path: '/refused' },
        { name: 'dead', path: '/dead', upstream: 'dead' },
        { name: 'late', path: '/late', deadlineMs: 30 },
        { name: 'slow', path: '/silent' },
        { name: 'all', path: '/*' },
      ],
      policies: [...WIDE, policy('never', ['ip'], bucket(1, '1/3600'), { routes: ['refused'] })],
      edge: { upstreams: { backend: { url }, dead: { url: `http://127.0.0.1:${await freePort()}` } } },
    });
    // The quota is spent, and the address that refuses has been taken out.
    for (const path of ['/refused', '/dead']) await ask(edge.url, path);
  });
  afterAll(async () => {
    await edge.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  const metric = async (name: string): Promise<number> => {
    const { text } = await ask(edge.gateway.adminUrl, '/metrics');
    return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const settles = () => waitFor(async () => (await metric('esclusa_in_flight')) === 0, { what: 'nothing in flight', timeoutMs: 1000 });
  const open = (path: string, method = 'GET', body?: string): ClientRequest => {
    const { hostname, port } = new URL(edge.url);
    const call = httpRequest({
      hostname,
      port,
      path,
      method,
      agent: false,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
    });
    call.on('error', () => undefined).end(body);
    return call;
  };
  const headOf = (call: ClientRequest) => new Promise<IncomingMessage>((resolve) => call.on('response', resolve));
  const abortBeforeHead = async (): Promise<string> => {
    const call = open('/silent');
    await waitFor(async () => (await metric('esclusa_in_flight')) === 1, { what: 'one in flight' });
    call.destroy();
    return 'left';
  };
  const abortAfterHead = async (): Promise<string> => {
    const call = open('/events');
    await headOf(call);
    call.destroy();
    return 'left';
  };
  const status = (path: string) => async (): Promise<unknown> => (await ask(edge.url, path).catch(() => ({ status: 'cut' }))).status;

  it.each<readonly [string, unknown, () => Promise<unknown>]>([
    ['a rule that refuses', 429, status('/refused')],
    ['an upstream that refuses the connection', 503, status('/dead')],
    ['an upstream that resets before its head', 502, status('/reset/head')],
    ['an upstream that resets in the body', 'cut', status('/reset/body')],
    ['an upstream whose chunks are none', 'cut', status('/garbled')],
    ['a deadline', 504, status('/late')],
    ['a caller that leaves before the head', 'left', abortBeforeHead],
    ['a caller that leaves in the body', 'left', abortAfterHead],
  ])('CON-05: nothing is left in flight after %s', async (_what, outcome, exit) => {
    for (let i = 0; i < 10; i += 1) {
      expect(await exit()).toBe(outcome);
      await settles();
    }
    expect(tally(await times(3, () => ask(edge.url, '/fine')))).toEqual({ 200: 3 });
  });

  it('CON-07: a POST with a streamed answer is noticed to be aborted, every time', async () => {
    const sockets = () =>
      new Promise<number>((resolve) => {
        upstream.getConnections((_error, count) => {
          resolve(count);
        });
      });
    await ask(edge.url, '/fine');
    const before = await sockets();
    for (let round = 1; round <= ROUNDS; round += 1) {
      [events, aborted] = [0, 0];
      const calls = Array.from({ length: STREAMS }, () => open('/events', 'POST', '{"ask":1}'));
      await Promise.all(calls.map(headOf));
      expect([events, await metric('esclusa_in_flight')]).toEqual([STREAMS, STREAMS]);
      for (const call of calls) call.destroy();
      await waitFor(() => aborted === STREAMS, { what: 'the upstream to see every abort', timeoutMs: 1000 });
      await settles();
    }
    await waitFor(async () => (await sockets()) <= before, { what: 'the sockets of aborted calls to be closed' });
  });

  it('CON-05: a shutdown lets requests in flight end, and leaves nothing', async () => {
    const call = open('/events');
    const answer = await headOf(call);
    answer.resume();
    const cut = new Promise<void>((resolve) => answer.once('close', resolve));
    const closing = edge.gateway.close();
    await closing;
    await cut;
    expect(answer.complete).toBe(false);
  });
});
