import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import dns from 'node:dns';
import { answerAfter, freePort, resetConnection, startBackend, waitFor, type Backend } from '#libs/testing';
import { toGatewayEnv } from '../apps/gateway/src/gateway.env.js';
import { startGateway, type RunningGateway } from '../apps/gateway/src/start-gateway.js';
import { bucket, policy, writeEdge, WIDE, type EdgeFiles } from './support/edge.js';
import { ask, times, type Answer } from './support/http.js';
import { startFullUpstream, startRawUpstream, type RawUpstream } from './support/raw-upstream.js';

@Controller('own')
class FaultyController {
  @Get('bug')
  bug(): never {
    throw new TypeError('a bug');
  }
}
@Module({ controllers: [FaultyController] })
class FaultyModule {}

/** Upstreams by the fault that each is made for; a route of the same name leads to each. */
describe('Proxy-Status tells each fault apart', () => {
  const closing: (() => Promise<void>)[] = [];
  let gateway: RunningGateway;
  let files: EdgeFiles;
  let slow: Backend;

  beforeAll(async () => {
    slow = await startBackend(answerAfter(400));
    const resetting = await startBackend(resetConnection());
    const full = await startFullUpstream();
    const raw: Record<string, RawUpstream> = {
      garbage: await startRawUpstream((socket) => socket.end('this is not HTTP\r\n\r\n')),
      'large-head': await startRawUpstream((socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`)),
      stops: await startRawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
      short: await startRawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
      coded: await startRawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n')),
      'odd-status': await startRawUpstream((socket) => socket.end('HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n')),
      'other-tls': await startRawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')),
    };
    closing.push(
      () => slow.close(),
      () => resetting.close(),
      () => full.stop(),
      ...Object.values(raw).map((one) => () => one.close()),
    );
    const own = await freePort();
    const timeouts = { connectMs: 200, headersMs: 200, idleMs: 200 };
    const retries = { attempts: 0 };
    const upstreams: Record<string, Record<string, unknown>> = {
      slow: { url: slow.url, timeouts },
      late: { url: slow.url },
      single: { url: slow.url, connections: 1, queue: 0 },
      resetting: { url: resetting.url, retries },
      refusing: { url: `http://127.0.0.1:${await freePort()}`, retries },
      full: { url: full.url, timeouts, retries },
      nowhere: { url: `http://${'x'.repeat(70)}.example`, retries },
      unresolved: { url: 'http://upstream.example', timeouts, retries },
      itself: { url: `http://127.0.0.1:${own}` },
      ...Object.fromEntries(Object.entries(raw).map(([name, { url }]) => [name, { url, timeouts, retries }])),
      'other-tls': { url: raw['other-tls']!.url.replace('http:', 'https:'), timeouts, retries },
    };
    files = writeEdge('', {
      routes: [
        ...Object.keys(upstreams).map((name) => ({ name, path: `/${name}/*`, upstream: name })),
        { name: 'late.deadline', path: '/deadline', upstream: 'late', deadlineMs: 150 },
        { name: 'tight', path: '/tight', upstream: 'slow' },
        { name: 'strict', path: '/closed', upstream: 'slow', failureMode: 'closed' },
      ],
      edge: { name: 'edge-a', upstreams, listener: { hosts: ['127.0.0.1', 'edge.example'] } },
      policies: [...WIDE, policy('tight', ['ip'], bucket(1, '1/600'), { routes: ['tight'] })],
    });
    // Its Redis is away: routes that are closed without their store say so, the others are open.
    const env = { ...files.env, PORT: String(own), REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
    gateway = await startGateway(toGatewayEnv(env), [FaultyModule]);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await gateway.close();
    for (const close of closing) await close();
    files.remove();
  });

  const status = async (path: string, headers: Record<string, string> = {}): Promise<readonly [number, string | undefined]> => {
    const answer = await ask(gateway.url, path, { headers });
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toMatchObject({ status: answer.status });
    return [answer.status, answer.headers['proxy-status'] as string | undefined];
  };

  it.each([
    ['a connection refused', '/refusing/x', 502, 'connection_refused', 'refusing'],
    ['an address that was taken out', '/refusing/x', 503, 'destination_unavailable', 'refusing'],
    ['a connection that does not come in time', '/full/x', 504, 'connection_timeout', 'full'],
    ['a connection reset', '/resetting/x', 502, 'connection_terminated', 'resetting'],
    ['no response head in time', '/slow/x', 504, 'http_response_timeout', 'slow'],
    ['the route’s deadline', '/deadline', 504, 'http_response_timeout', 'late'],
    ['a name that does not exist', '/nowhere/x', 502, 'dns_error', 'nowhere'],
    ['an upstream that does not speak HTTP', '/garbage/x', 502, 'http_protocol_error', 'garbage'],
    ['a status that is none', '/odd-status/x', 502, 'http_protocol_error', 'odd-status'],
    ['a transfer coding that is not known', '/coded/x', 502, 'http_response_transfer_coding', 'coded'],
    ['a response head that is too large', '/large-head/x', 502, 'http_response_header_section_size', 'large-head'],
    ['an upstream that does not speak TLS', '/other-tls/x', 502, 'tls_protocol_error', 'other-tls'],
  ])('%s', async (_what, path, code, error, upstream) => {
    expect(await status(path)).toEqual([code, `edge-a;error=${error};next-hop="${upstream}"`]);
  });

  it('a name that is not resolved in time', async () => {
    // The one fault that needs a stand-in: no resolver can be made slow from here.
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation(() => undefined);
    expect(await status('/unresolved/x')).toEqual([504, 'edge-a;error=dns_timeout;next-hop="unresolved"']);
    lookup.mockRestore();
  });

  it('too many requests for an upstream', async () => {
    const answers = await times(3, () => ask(gateway.url, '/single/x'));
    const refused = answers.filter((answer) => answer.status === 503);
    expect(refused).toHaveLength(2);
    expect(refused[0]?.headers).toMatchObject({
      'proxy-status': 'edge-a;error=connection_limit_reached;next-hop="single"',
      'retry-after': '1',
    });
  });

  it('a request that goes in a circle', async () => {
    const answer = await ask(gateway.url, '/itself/x');
    expect([answer.status, answer.headers['proxy-status']]).toEqual([502, 'edge-a;error=proxy_loop_detected;next-hop="itself"']);
  });

  it('what no upstream has to do with: no route, a quota, a closed route without its store, a host of others, a bug of our own', async () => {
    expect(await status('/')).toEqual([404, 'edge-a;error=destination_not_found']);
    expect(await status('/own/bug')).toEqual([500, 'edge-a;error=proxy_internal_error']);
    expect(await status('/closed')).toEqual([503, 'edge-a;error=proxy_internal_response']);
    expect(await status('/slow/x', { host: 'other.example' })).toEqual([421, 'edge-a;error=http_request_denied']);
    const memory = await startGateway(toGatewayEnv({ ...files.env, STORE: 'memory' }));
    await ask(memory.url, '/tight');
    expect((await ask(memory.url, '/tight')).headers['proxy-status']).toBe('edge-a;error=http_request_error;status-code=429');
    await memory.close();
  });

  it.each([
    ['stops in the middle of its answer', '/stops/x', 'connection_read_timeout', 'stops'],
    ['closes in the middle of its answer', '/short/x', 'connection_terminated', 'short'],
  ])('an upstream that %s: the answer is cut off, never ended, and the fault is counted', async (_what, path, error, upstream) => {
    const answer = await ask(gateway.url, path).catch((failure: unknown) => failure as Error);
    expect(answer).toMatchObject({ code: 'ECONNRESET' });
    const counted = `esclusa_upstream_faults_total{upstream="${upstream}",error="${error}"} 1`;
    await waitFor(async () => (await ask(gateway.adminUrl, '/metrics')).text.includes(counted), { what: counted });
  });

  it('says when to come back only where coming back may help', async () => {
    const retryAfter = async (path: string): Promise<Answer['headers'][string]> => (await ask(gateway.url, path)).headers['retry-after'];
    expect(await retryAfter('/refusing/x')).toBe('1');
    expect(await retryAfter('/garbage/x')).toBeUndefined();
  });
});
