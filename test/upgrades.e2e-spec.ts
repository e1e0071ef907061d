import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import type { WebSocket } from 'ws';
import { sharedRedisUrl, startBackend, waitFor } from '#libs/testing';
import { toGatewayEnv } from '../apps/gateway/src/gateway.env.js';
import { startGateway, type RunningGateway } from '../apps/gateway/src/start-gateway.js';
import { WIDE, bucket, policy, writeEdge, type EdgeFiles } from './support/edge.js';
import { ask, askRaw, times } from './support/http.js';
import { startRawUpstream } from './support/raw-upstream.js';
import { closed, nextMessage, openWebSocket, startWebSocketUpstream, type WebSocketUpstream } from './support/web-sockets.js';

const upgradeRequest = (path: string, more = '', protocol = 'websocket'): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;

describe('upgrades', () => {
  let upstream: WebSocketUpstream;
  let files: EdgeFiles;
  let gateway: RunningGateway;
  beforeAll(async () => {
    upstream = await startWebSocketUpstream();
    files = writeEdge(upstream.url, {
      routes: [
        { name: 'ws', path: '/ws', upgrades: ['websocket'] },
        { name: 'few', path: '/few', upgrades: ['websocket'] },
        { name: 'private', path: '/private', upgrades: ['websocket'], auth: 'required' },
        { name: 'short', path: '/short', upgrades: ['websocket'], deadlineMs: 200 },
        { name: 'idle', path: '/idle', upgrades: ['websocket'], upstream: 'idle' },
        { name: 'all', path: '/*' },
      ],
      edge: {
        upstreams: { backend: { url: upstream.url }, idle: { url: upstream.url, timeouts: { upgradeIdleMs: 150 } } },
      },
      policies: [...WIDE, policy('few', ['tenant'], bucket(5, '5/3600'), { routes: ['few'] })],
      callers: { acme: { tenant: 'acme', user: 'ann' } },
    });
    gateway = await startGateway(toGatewayEnv({ ...files.env, STORE: 'memory' }));
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
    files.remove();
  });

  const open = async (path: string, headers: Record<string, string> = {}): Promise<WebSocket> => {
    const socket = await openWebSocket(gateway.url, path, headers);
    if (typeof socket === 'number') throw new Error(`no upgrade: ${socket}`);
    return socket;
  };
  const gauge = async (name: string): Promise<number> => {
    const { text } = await ask(gateway.adminUrl, '/metrics');
    return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const allClosed = (): Promise<unknown> =>
    waitFor(async () => (await gauge('esclusa_upgraded_connections')) + (await gauge('esclusa_in_flight')) === 0, {
      what: 'all connections to be closed',
    });

  it('carry messages of any size both ways, and closing status and reason', async () => {
    const socket = await open('/ws');
    for (const text of ['hello', 'x'.repeat(300), 'y'.repeat(200_000)]) {
      const echoed = nextMessage(socket);
      socket.send(text);
      expect(await echoed).toBe(text);
    }
    const end = closed(socket);
    socket.send('close');
    expect(await end).toEqual([4001, 'bye']);
    await allClosed();
  });

  it('reach the upstream with the fields that any request gets, and without the credential', async () => {
    const socket = await open('/ws', { 'x-api-key': files.keys.acme!, 'x-esclusa-tenant': 'forged', 'x-forwarded-for': '1.2.3.4' });
    expect(upstream.upgrades.at(-1)?.headers).toMatchObject({
      'x-esclusa-tenant': 'acme',
      'x-esclusa-user': 'ann',
      'x-forwarded-for': '127.0.0.1',
      via: '1.1 esclusa',
    });
    expect(upstream.upgrades.at(-1)?.headers).not.toHaveProperty('x-api-key');
    socket.terminate();
    await allClosed();
  });

  it('answer 101 with budget fields and the request id', async () => {
    const text = await askRaw(gateway.url, upgradeRequest('/few', `X-Api-Key: ${files.keys.acme!}\r\n`), /\r\n\r\n/);
    expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(text).toMatch(/\r\nRateLimit: "few";r=4/);
    expect(text).toMatch(/\r\nx-request-id: /i);
    await allClosed();
  });

  it('are decided before they reach anybody: 429, 401, 404 and 400 as problem documents', async () => {
    const before = upstream.upgrades.length + upstream.requests.length;
    const as = `X-Api-Key: ${files.keys.acme!}\r\n`;
    for (let i = 0; i < 5; i += 1) {
      const socket = await openWebSocket(gateway.url, '/few', { 'x-api-key': files.keys.acme! });
      if (typeof socket !== 'number') socket.terminate();
    }
    await allClosed();
    const allowed = upstream.upgrades.length + upstream.requests.length;
    expect(allowed - before).toBeLessThanOrEqual(5);
    for (const [path, more, status, detail] of [
      ['/few', as, 429, 'few'],
      ['/private', '', 401, 'credential'],
      ['/ws', 'X-Api-Key: esk_wrong\r\n', 401, ''],
      ['/a/../b', '', 400, 'dot segment'],
      ['/other', '', 400, 'hands no connections over'],
    ] as const) {
      const text = await askRaw(gateway.url, upgradeRequest(path, more));
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*application/problem\\+json[\\s\\S]*${detail}`));
      expect(text).toMatch(/\r\nConnection: close\r\n/i);
    }
    expect(upstream.upgrades.length + upstream.requests.length).toBe(allowed);
  });

  it('HTTP-15: h2c is dropped and the request handled as HTTP/1.1; a WebSocket on a plain route opens no tunnel', async () => {
    const plain = await askRaw(
      gateway.url,
      'GET /h2c HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, X-Hop\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nX-Hop: 1\r\n\r\n',
      /plain/,
    );
    expect(plain).toMatch(/^HTTP\/1\.1 200/);
    const { headers } = upstream.requests.at(-1)!;
    expect(headers).toMatchObject({ via: '1.1 esclusa' });
    for (const name of ['upgrade', 'http2-settings', 'x-hop']) expect(headers).not.toHaveProperty(name);
    expect(await openWebSocket(gateway.url, '/plain')).toBe(400);
  });

  it('HTTP-15: five upgrades over two gateways, then 429', async () => {
    const env = { ...files.env, REDIS_URL: sharedRedisUrl(), REDIS_DEADLINE_MS: '1000' };
    const ownFiles = writeEdge(upstream.url, {
      routes: [{ name: 'ws', path: '/ws', upgrades: ['websocket'] }],
      policies: [...WIDE, policy(`five-${process.pid}`, ['tenant'], bucket(5, '5/3600'))],
      callers: { shared: { tenant: `t-${process.pid}-${Date.now()}` } },
    });
    const both = await Promise.all([0, 1].map(() => startGateway(toGatewayEnv({ ...env, ...ownFiles.env }))));
    for (const one of both) await waitFor(async () => (await ask(one.url, '/x')).headers.ratelimit !== undefined, { what: 'the store' });
    const answers = await times(20, (i) => openWebSocket(both[i % 2]!.url, '/ws', { 'x-api-key': ownFiles.keys.shared! }));
    const sockets = answers.filter((answer) => typeof answer !== 'number');
    expect(sockets).toHaveLength(5);
    expect(answers.filter((answer) => answer === 429)).toHaveLength(15);
    for (const socket of sockets) socket.terminate();
    for (const one of both) await one.close();
    ownFiles.remove();
  });

  it('CON-09: count as one request in flight while they are open, and are given back within a second when the caller is gone', async () => {
    const sockets = [await open('/ws'), await open('/ws'), await open('/ws')];
    expect([await gauge('esclusa_upgraded_connections'), await gauge('esclusa_in_flight')]).toEqual([3, 3]);
    const left = upstream.open.size;
    sockets[0]!.terminate();
    await waitFor(async () => (await gauge('esclusa_upgraded_connections')) === 2, { what: 'the first to be given back', timeoutMs: 1000 });
    sockets[1]!.close();
    await waitFor(async () => (await gauge('esclusa_in_flight')) === 1, { what: 'the second to be given back', timeoutMs: 1000 });
    const end = closed(sockets[2]!);
    for (const socket of upstream.open) socket.terminate();
    expect((await end)[0]).toBe(1006);
    await allClosed();
    expect(upstream.open.size).toBeLessThan(left);
  });

  it('outlive the deadline of their route once they are open', async () => {
    const socket = await open('/short');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const echoed = nextMessage(socket);
    socket.send('still here');
    expect(await echoed).toBe('still here');
    socket.close();
    await allClosed();
  });

  it('are closed with 1001 when nothing moves, and not while something does', async () => {
    const socket = await open('/idle');
    const end = closed(socket);
    for (let i = 0; i < 5; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      const echoed = nextMessage(socket);
      socket.send(`${i}`);
      expect(await echoed).toBe(`${i}`);
    }
    expect(await end).toEqual([1001, '']);
    await allClosed();
  });

  it('take bytes that follow the request at once', async () => {
    const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]).toString('latin1');
    const text = await askRaw(gateway.url, upgradeRequest('/ws') + frame, /hi$/);
    expect(text).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n\u0081\u0002hi$/);
    await allClosed();
  });

  it('with a body, or in HTTP/1.0, are plain requests', async () => {
    const before = upstream.upgrades.length;
    const withBody = await askRaw(gateway.url, `${upgradeRequest('/ws', 'Content-Length: 4\r\n')}body`, /plain/);
    expect(withBody).toMatch(/^HTTP\/1\.1 200/);
    const old = await askRaw(gateway.url, upgradeRequest('/ws').replace('HTTP/1.1', 'HTTP/1.0'));
    expect(old).toMatch(/^HTTP\/1\.1 200[\s\S]*plain$/);
    expect(upstream.upgrades).toHaveLength(before);
  });

  it('that the upstream refuses are answered as it says', async () => {
    const refusing = await startBackend((_request, response) => response.writeHead(403, { 'x-why': 'no' }).end('not you'));
    const ownFiles = writeEdge(refusing.url, { routes: [{ name: 'ws', path: '/ws', upgrades: ['websocket'] }], policies: WIDE });
    const one = await startGateway(toGatewayEnv({ ...ownFiles.env, STORE: 'memory' }));
    expect(await askRaw(one.url, upgradeRequest('/ws'))).toMatch(/^HTTP\/1\.1 403 [\s\S]*x-why: no[\s\S]*not you/i);
    await one.close();
    await refusing.close();
    ownFiles.remove();
  });

  it('to a protocol that the upstream was not asked for open nothing', async () => {
    const odd = await startRawUpstream((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nraw'),
    );
    const ownFiles = writeEdge(odd.url, { routes: [{ name: 'ws', path: '/ws', upgrades: ['websocket'] }], policies: WIDE });
    const one = await startGateway(toGatewayEnv({ ...ownFiles.env, STORE: 'memory' }));
    const answer = await askRaw(one.url, upgradeRequest('/ws'));
    expect(answer).toMatch(/^HTTP\/1\.1 502 [\s\S]*http_protocol_error/);
    expect(answer).not.toContain('raw');
    await one.close();
    await odd.close();
    ownFiles.remove();
  });

  it('to other protocols end without losing a byte, each direction by itself', async () => {
    const size = 1_000_000;
    let received = 0;
    const counter = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bytes\r\n\r\n');
      socket.on('data', (chunk) => (received += chunk.length));
      socket.on('end', () => socket.end('z'.repeat(size)));
    }, true);
    const ownFiles = writeEdge(counter.url, { routes: [{ name: 'bytes', path: '/bytes', upgrades: ['bytes'] }], policies: WIDE });
    const one = await startGateway(toGatewayEnv({ ...ownFiles.env, STORE: 'memory' }));
    const { hostname, port } = new URL(one.url);
    const client = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    client.write(upgradeRequest('/bytes', '', 'bytes'));
    let got = 0;
    await new Promise<void>((resolve, reject) => {
      client.once('data', () => {
        client.end('u'.repeat(size));
        client.on('data', (chunk) => {
          got += chunk.length;
          client.pause();
          setImmediate(() => client.resume());
        });
      });
      client.once('close', () => {
        resolve();
      });
      client.once('error', reject);
    });
    expect([received, got]).toEqual([size, size]);
    await one.close();
    await counter.close();
    ownFiles.remove();
  });

  it('are closed with 1001 between two messages when the gateway stops, also one that is still being agreed on', async () => {
    let agree: (() => void) | undefined;
    const late = await startRawUpstream((socket) => {
      agree = () => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const ownFiles = writeEdge(upstream.url, {
      routes: [
        { name: 'ws', path: '/ws', upgrades: ['websocket'] },
        { name: 'late', path: '/late', upgrades: ['websocket'], upstream: 'late' },
      ],
      edge: { upstreams: { backend: { url: upstream.url }, late: { url: late.url } } },
      policies: WIDE,
    });
    const one = await startGateway(toGatewayEnv({ ...ownFiles.env, STORE: 'memory' }));
    const socket = (await openWebSocket(one.url, '/ws')) as WebSocket;
    const end = closed(socket);
    const pending = askRaw(one.url, upgradeRequest('/late'));
    await waitFor(() => agree !== undefined, { what: 'the upstream to be asked' });
    const stopped = one.close();
    expect(await end).toEqual([1001, '']);
    agree?.();
    expect(await pending).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n\u0088\u0002\u0003\u00e9$/);
    await stopped;
    await late.close();
    ownFiles.remove();
  });
});
