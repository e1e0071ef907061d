import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { waitFor } from '#libs/testing';
import { bucket, policy, startEdge, WIDE, type TestEdge } from './support/edge.js';
import { ask, askRaw } from './support/http.js';
import { startRawUpstream } from './support/raw-upstream.js';

const MIB = 1024 * 1024;

describe('streaming', () => {
  let edge: TestEdge;
  let handler: RequestListener;
  const requests: IncomingMessage[] = [];
  const upstream = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  upstream.on('checkContinue', (request, response) => upstream.emit('request', request, response));

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    edge = await startEdge({
      routes: [
        { name: 'closed', path: '/closed' },
        { name: 'all', path: '/*' },
      ],
      policies: [...WIDE, policy('never', ['ip'], bucket(1, '1/3600'), { routes: ['closed'] })],
      edge: { upstreams: { backend: { url, timeouts: { headersMs: 20_000 } } } },
    });
  });
  afterEach(() => {
    requests.length = 0;
  });
  afterAll(async () => {
    await edge.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  const send = (path: string, options: object = {}) => {
    const { hostname, port } = new URL(edge.url);
    return httpRequest({ hostname, port, path, agent: false, ...options }).on('error', () => undefined);
  };

  it('a caller that does not read stops the upstream, and gets all of it when it reads on', async () => {
    let written = 0;
    let stalled = 0;
    handler = (_request, response) => {
      const chunk = Buffer.alloc(MIB, 'x');
      const write = (): void => {
        while (written < 128) {
          written += 1;
          if (!response.write(chunk)) {
            stalled = performance.now();
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    };
    const response = await new Promise<IncomingMessage>((resolve) => send('/down').on('response', resolve).end());
    await waitFor(() => stalled > 0 && performance.now() - stalled > 300, { what: 'the upstream to be stopped' });
    expect(written).toBeLessThan(64);
    let read = 0;
    response.on('data', (chunk: Buffer) => (read += chunk.length));
    await waitFor(() => response.complete, { what: 'the rest', timeoutMs: 20_000 });
    expect(read).toBe(128 * MIB);
  });

  it('an upstream that does not read stops the caller, and gets all of it when it reads on', async () => {
    let read = 0;
    let readOn = (): void => undefined;
    handler = (request, response) => {
      readOn = () => {
        request.on('data', (chunk: Buffer) => (read += chunk.length)).on('end', () => response.end('ok'));
      };
    };
    const call = send('/up', { method: 'POST' });
    const answered = new Promise<IncomingMessage>((resolve) => call.on('response', resolve));
    let written = 0;
    let stalled = 0;
    const write = (): void => {
      while (written < 128) {
        written += 1;
        if (!call.write(Buffer.alloc(MIB, 'x'))) {
          stalled = performance.now();
          call.once('drain', write);
          return;
        }
      }
      call.end();
    };
    write();
    await waitFor(() => stalled > 0 && performance.now() - stalled > 300, { what: 'the caller to be stopped' });
    expect(written).toBeLessThan(64);
    readOn();
    expect((await answered).statusCode).toBe(200);
    expect(read).toBe(128 * MIB);
  });

  it('100 (Continue) comes after admission, when the upstream is there: never for a refused request', async () => {
    let asked: string[] = [];
    handler = (request, response) => {
      asked.push('upstream');
      request.resume().on('end', () => response.end('ok'));
    };
    const call = send('/up', { method: 'POST', headers: { expect: '100-continue', 'content-length': 5 } });
    call.flushHeaders();
    call.on('continue', () => {
      asked.push('continue');
      call.end('hello');
    });
    const answer = await new Promise<IncomingMessage>((resolve) => call.on('response', resolve));
    expect(answer.statusCode).toBe(200);
    expect(asked.toSorted()).toEqual(['continue', 'upstream']);
    // The edge meets the expectation itself.
    expect(requests[0]?.headers.expect).toBeUndefined();

    await ask(edge.url, '/closed');
    asked = [];
    const refused = await askRaw(edge.url, 'POST /closed HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused).toMatch(/\r\nConnection: close\r\n/i);
    expect(asked).toEqual([]);
  });

  it('interim answers go on: 103 with its links, not to HTTP/1.0', async () => {
    handler = (_request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('ok'));
    };
    const answer = await askRaw(edge.url, 'GET /hints HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/i);
    expect(await askRaw(edge.url, 'GET /hints HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('HTTP-19: trailers are dropped in both directions, and the fields that announce them', async () => {
    handler = (request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { trailer: 'x-sum' });
        response.write('ok');
        response.addTrailers({ 'x-sum': '1' });
        response.end();
      });
    };
    const head =
      'POST /t HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\nConnection: close, TE\r\n\r\n';
    const answer = await askRaw(edge.url, `${head}2\r\nhi\r\n0\r\nX-T: 1\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).not.toMatch(/x-sum/i);
    expect(answer).toMatch(/\r\n0\r\n\r\n$/);
    expect(requests[0]?.trailers).toEqual({});
    expect([requests[0]?.headers.trailer, requests[0]?.headers.te]).toEqual([undefined, undefined]);
  });

  it.each(['before its head', 'in its body'])('an upstream call ends when its caller leaves %s', async (when) => {
    let closed = false;
    handler = (_request, response) => {
      if (when === 'in its body') response.write('data: 1\n\n');
      response.once('close', () => (closed = true));
    };
    const call = send('/events').end();
    if (when === 'in its body') await new Promise((resolve) => call.on('response', resolve));
    else await waitFor(() => requests.length === 1, { what: 'the request' });
    call.destroy();
    expect(await waitFor(() => closed, { what: 'the upstream to see it', timeoutMs: 1000 })).toBe(true);
  });

  it('an answer ahead of the end of the request’s body goes out at once, and the rest of the body is not waited for', async () => {
    handler = (_request, response) => response.writeHead(413, { connection: 'close' }).end('too much');
    const call = send('/up', { method: 'POST', headers: { 'content-length': 100 * MIB } });
    call.write('a');
    const answer = await new Promise<IncomingMessage>((resolve) => call.on('response', resolve));
    expect(answer.statusCode).toBe(413);
    call.destroy();
  });

  it.each([
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['chunks that are none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', 'xyz\r\n'],
  ])('an upstream that breaks off an answer with %s: the caller never takes it for whole', async (_what, bytes, rest = '') => {
    // Not at once: Node's own client reports an end, not a reset, where both come with the last bytes.
    const raw = await startRawUpstream((socket) => socket.write(bytes, () => setTimeout(() => socket.end(rest), 50)));
    const broken = await startEdge({ policies: WIDE, edge: { upstreams: { backend: { url: raw.url } } } });
    try {
      for (const version of ['1.1', '1.0']) {
        const { hostname, port } = new URL(broken.url);
        let text = '';
        let reset = false;
        await new Promise<void>((resolve) => {
          const socket = connect(Number(port), hostname, () => socket.write(`GET / HTTP/${version}\r\nHost: x\r\n\r\n`));
          socket.on('data', (chunk) => (text += String(chunk)));
          socket.on('error', () => (reset = true));
          socket.on('close', () => {
            resolve();
          });
        });
        expect(text).toMatch(/^(HTTP\/1\.1 200 |$)/);
        expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
        // Without a length and without chunks only a reset tells a broken answer from a whole one.
        if (version === '1.0' && !/content-length/i.test(text)) expect(reset).toBe(true);
      }
    } finally {
      await broken.close();
      await raw.close();
    }
  });
});
