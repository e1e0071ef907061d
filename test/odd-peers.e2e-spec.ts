import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBackend, waitFor, type Backend } from '#libs/testing';
import { makeCertificate, type Certificate } from './support/certificates.js';
import { startEdge, WIDE, type TestEdge } from './support/edge.js';
import { ask, askRaw, times } from './support/http.js';
import { startRawUpstream, type RawUpstream } from './support/raw-upstream.js';

const MIB = 1024 * 1024;

/** What the upstream's bytes are, by path. */
const ANSWERS: Readonly<Record<string, string>> = {
  '/reason': 'HTTP/1.1 200 O\u0001K\r\nContent-Length: 2\r\n\r\nok',
  '/field': 'HTTP/1.1 200 OK\r\nX-A: a\u0001b\r\nContent-Length: 2\r\n\r\nok',
  '/304': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n',
  '/204': 'HTTP/1.1 204 No Content\r\nContent-Length: 500\r\n\r\n',
  '/hints':
    'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload, </b,c.js>; rel="preload"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  '/bad-hints': 'HTTP/1.1 103 Early Hints\r\nLink: a.css\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
};

describe('upstreams that answer oddly', () => {
  let upstream: RawUpstream;
  let edge: TestEdge;
  beforeAll(async () => {
    upstream = await startRawUpstream((socket, first) => {
      const answer = (bytes: Buffer): void => {
        socket.write(ANSWERS[bytes.toString('latin1').split(' ')[1] ?? ''] ?? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'latin1');
      };
      answer(first);
      socket.on('data', answer);
    });
    edge = await startEdge({ policies: WIDE, edge: { upstreams: { backend: { url: upstream.url, retries: { attempts: 0 } } } } });
  });
  afterAll(async () => {
    await edge.close();
    await upstream.close();
  });
  /** The answer, and that of a second request on the same connection. */
  const twice = (path: string): Promise<string> =>
    askRaw(edge.url, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\nGET /fine HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

  it('a reason phrase goes no further, whatever is in it', async () => {
    expect(await twice('/reason')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*okHTTP\/1\.1 200 /);
  });

  it('a field that no one may send ends that one answer', async () => {
    expect(await twice('/field')).toMatch(/^HTTP\/1\.1 502 [\s\S]*http_protocol_error[\s\S]*HTTP\/1\.1 200 /);
  });

  it.each(['/304', '/204'])('%s with a length has no body, and the connection goes on', async (path) => {
    const text = await twice(path);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${path.slice(1)} [\\s\\S]*\r\n\r\nHTTP/1\\.1 200 `));
    expect(/content-length: 500/i.test(text)).toBe(path === '/304');
  });

  it('hints are passed on link by link, and left out where they are none', async () => {
    expect(await twice('/hints')).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload, <\/b,c\.js>; rel="preload"\r\n\r\nHTTP\/1\.1 200 /i,
    );
    expect(await twice('/bad-hints')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('callers that behave oddly', () => {
  let backend: Backend;
  let edge: TestEdge;
  beforeAll(async () => {
    backend = await startBackend((request, response) => {
      if (request.url === '/silent') return;
      if (request.url === '/early') {
        response.writeHead(200, { 'content-type': 'text/plain' }).end('enough');
        return;
      }
      if (request.url === '/large') response.end(Buffer.alloc(64 * MIB));
      else request.resume().on('end', () => response.end('ok'));
    });
    edge = await startEdge({
      routes: [
        { name: 'ws', path: '/ws', upgrades: ['websocket'] },
        { name: 'one', path: '/silent', upstream: 'one', deadlineMs: 300 },
        { name: 'all', path: '/*' },
      ],
      policies: WIDE,
      edge: {
        listener: { bodyIdleMs: 300 },
        upstreams: { backend: { url: backend.url }, one: { url: backend.url, connections: 1, queue: 5 } },
      },
    });
  });
  afterAll(async () => {
    await edge.close();
    await backend.close();
  });
  const open = (bytes: string): Promise<Socket> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(edge.url);
      const socket = connect(Number(port), hostname, () => {
        socket.write(bytes, 'latin1');
        resolve(socket);
      });
      socket.on('error', () => undefined);
    });
  const inFlight = async (): Promise<number> => {
    const { text } = await ask(edge.gateway.adminUrl, '/metrics');
    return [...text.matchAll(/^esclusa_in_flight(?:\{.*\})? (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const settled = () => waitFor(async () => (await inFlight()) === 0, { what: 'nothing in flight', timeoutMs: 2000 });

  it.each(['websocket', 'h2c'])('asking for %s behind an answer that is not out yet: one after the other', async (protocol) => {
    const first = 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n';
    const text = await askRaw(edge.url, `${first}GET /b HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
    expect(text).toMatch(protocol === 'h2c' ? /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 / : /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 400 /);
    expect((await ask(edge.url, '/fine')).status).toBe(200);
  });

  it('one that sends requests without end is read no faster than it is answered', async () => {
    let answer = (): void => undefined;
    backend.handleWith((_request, response) => {
      answer = () => response.end('ok');
    });
    const socket = await open('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
    const piece = Buffer.from('GET /a HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(4000));
    let taken = 0;
    const write = (): void => {
      while (taken < 256 * MIB && socket.write(piece)) taken += piece.length;
    };
    socket.on('drain', () => {
      taken += piece.length;
      write();
    });
    write();
    let before = -1;
    await waitFor(
      async () => {
        const still = taken === before;
        before = taken;
        await sleep(200);
        return still;
      },
      { what: 'reading to stop', timeoutMs: 8000 },
    );
    // What the kernel holds for both ends.
    expect(taken).toBeLessThan(32 * MIB);
    // What is not read is not seen to end: it is, when the answer goes out.
    socket.destroy();
    backend.handleWith((request, response) => request.resume().on('end', () => response.end('ok')));
    answer();
    await settled();
    expect(backend.requests.length).toBeLessThan(100);
  });

  it('requests that wait for a connection end with their deadline, and give their place back', async () => {
    backend.handleWith((_request, response) => setTimeout(() => response.end('late'), 500));
    const answers = await times(6, () => ask(edge.url, '/silent'));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(504));
    await settled();
    backend.handleWith((_request, response) => response.end('ok'));
    await waitFor(async () => (await ask(edge.url, '/silent')).status === 200, { what: 'places to be free again' });
    backend.handleWith((request, response) => request.resume().on('end', () => response.end('ok')));
  });

  it('an upload is read to its end when its answer came before: the connection goes on', async () => {
    backend.handleWith((request, response) => {
      if (request.url === '/early') response.end('enough');
      else response.end('ok');
    });
    const socket = await open('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.write('x'.repeat(30_000));
    await waitFor(() => text.includes('enough'), { what: 'the answer' });
    socket.write('x'.repeat(30_000));
    socket.write('GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await waitFor(() => /HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /.test(text), { what: 'the next answer' });
    socket.destroy();
  });

  it('a WebSocket whose caller has gone before the upstream agreed is not waited with', async () => {
    backend.handleWith(() => undefined);
    const socket = await open(
      'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await waitFor(async () => (await inFlight()) === 1, { what: 'the request' });
    socket.end();
    await settled();
  });

  it('one that reads nothing of its answer is let go of', async () => {
    backend.handleWith((_request, response) => response.end(Buffer.alloc(64 * MIB)));
    const socket = await open('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.pause();
    await waitFor(async () => (await inFlight()) === 1, { what: 'the request' });
    await settled();
    socket.destroy();
  });

  it('one that takes its answer slowly gets all of it', async () => {
    backend.handleWith((_request, response) => response.end(Buffer.alloc(4 * MIB)));
    const socket = await open('GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    let read = 0;
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 20);
    });
    await new Promise((resolve) => socket.once('close', resolve));
    expect(read).toBeGreaterThan(4 * MIB);
  }, 20_000);
});

describe('callers of HTTP/2 that behave oddly', () => {
  let certificate: Certificate;
  let edge: TestEdge;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    certificate = await makeCertificate('localhost');
    const { certFile, keyFile } = certificate;
    edge = await startEdge({
      policies: WIDE,
      edge: { listener: { bodyIdleMs: 300, hosts: ['localhost'], tls: { certFile, keyFile, http2: true } } },
    });
    session = connectHttp2(edge.url.replace('127.0.0.1', 'localhost'), { ca: certificate.cert });
  });
  afterAll(async () => {
    session.destroy();
    await edge.close();
    certificate.remove();
  });
  const status = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve) => {
      const stream = session.request(headers);
      stream.on('response', (answer) => {
        resolve(answer[':status'] ?? 0);
      });
      stream.on('error', () => undefined).resume();
    });
  const inFlight = async (): Promise<number> => {
    const { text } = await ask(edge.gateway.adminUrl, '/metrics');
    return [...text.matchAll(/^esclusa_in_flight(?:\{.*\})? (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const settled = () => waitFor(async () => (await inFlight()) === 0, { what: 'nothing in flight', timeoutMs: 2000 });

  it.each(['before its head', 'in its body'])('one that resets a stream %s ends its upstream call', async (when) => {
    let closed = false;
    edge.backend.handleWith((_request, response) => {
      if (when === 'in its body') response.write('data: 1\n\n');
      response.once('close', () => (closed = true));
    });
    const stream = session.request({ ':path': '/events' });
    stream.on('error', () => undefined).resume();
    await waitFor(async () => (await inFlight()) === 1, { what: 'the request' });
    if (when === 'in its body') await new Promise((resolve) => stream.once('data', resolve));
    stream.close();
    await waitFor(() => closed, { what: 'the upstream to see it', timeoutMs: 1000 });
    await settled();
  });

  it('one that reads nothing of its answer is let go of', async () => {
    edge.backend.handleWith((_request, response) => response.end(Buffer.alloc(8 * MIB)));
    const stream = session.request({ ':path': '/large' });
    stream.on('error', () => undefined).pause();
    await waitFor(async () => (await inFlight()) === 1, { what: 'the request' });
    await settled();
  });

  it('a Host beside :authority, an unknown method, a target that is none', async () => {
    edge.backend.handleWith((_request, response) => response.end('ok'));
    expect(await status({ ':path': '/', ':authority': 'localhost', host: 'other.example' })).toBe(400);
    expect(await status({ ':path': '/', ':method': 'NO_SUCH' })).toBe(501);
    expect(await status({ ':path': '/a#b' })).toBe(400);
    expect(await status({ ':path': '/' })).toBe(200);
  });
});

describe('a shutdown', () => {
  it('is not held up by connections without a whole request, and answers that are still to come say that they are the last', async () => {
    const edge = await startEdge({ policies: WIDE });
    const { hostname, port } = new URL(edge.url);
    const closed = ['', 'GET / HTTP/1.1\r\nHo'].map(
      (bytes) =>
        new Promise<void>((resolve) => {
          const socket = connect(Number(port), hostname, () => socket.write(bytes));
          socket
            .on('error', () => undefined)
            .once('close', () => {
              resolve();
            })
            .resume();
        }),
    );
    let answer = (): void => undefined;
    edge.backend.handleWith((_request, response) => {
      answer = () => response.end('ok');
    });
    const last = askRaw(edge.url, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor(() => edge.backend.requests.length === 1, { what: 'the request' });
    const stopped = edge.gateway.close();
    await Promise.all(closed);
    answer();
    expect(await last).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close\r\n[\s\S]*ok/i);
    await stopped;
    await edge.close();
  });
});
