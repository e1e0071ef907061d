import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect as connectHttp2, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { connect as connectTcp, type AddressInfo } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { answerJson, resetConnection, waitFor } from '#libs/testing';
import { toGatewayEnv } from '../apps/gateway/src/gateway.env.js';
import { startGateway } from '../apps/gateway/src/start-gateway.js';
import { makeCertificate, type Certificate } from './support/certificates.js';
import { bucket, policy, startEdge, WIDE, writeEdge, type TestEdge } from './support/edge.js';
import { ask } from './support/http.js';

const LISTENER = { headersMs: 700, requestMs: 1500, maxHeaderBytes: 4096 };

interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly resetWith: number;
}

describe('HTTP/2 and TLS on the listener', () => {
  let certificate: Certificate;
  let edge: TestEdge;
  let session: ClientHttp2Session;

  beforeAll(async () => {
    certificate = await makeCertificate('localhost');
    const { certFile, keyFile } = certificate;
    edge = await startEdge({
      routes: [
        { name: 'closed', path: '/closed' },
        { name: 'all', path: '/*' },
      ],
      policies: [...WIDE, policy('never', ['ip'], bucket(1, '1/3600'), { routes: ['closed'] })],
      edge: { listener: { ...LISTENER, tls: { certFile, keyFile, http2: true } } },
    });
    session = connectHttp2(edge.url, { ca: certificate.cert, servername: 'localhost' });
  });
  afterAll(async () => {
    // An open session without a request does not hold the shutdown up.
    await edge.close();
    await waitFor(() => session.closed, { what: 'the session to be closed' });
    certificate.remove();
  });

  const call = (headers: Record<string, string>, body?: Buffer): Promise<Http2Answer> =>
    new Promise((resolve) => {
      const stream = session.request(headers, { endStream: body === undefined });
      let answer: IncomingHttpHeaders = {};
      let text = '';
      stream.on('error', () => undefined);
      stream.on('response', (got) => (answer = got));
      stream.on('data', (chunk) => (text += String(chunk)));
      stream.on('close', () => {
        resolve({ status: Number(answer[':status'] ?? 0), headers: answer, text, resetWith: stream.rstCode });
      });
      if (body !== undefined) stream.end(body);
    });
  const overTls = (alpn: string, bytes: string): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const { port } = new URL(edge.url);
      const socket: TLSSocket = connectTls(
        { port: Number(port), ca: certificate.cert, servername: 'localhost', ALPNProtocols: [alpn] },
        () => socket.write(bytes),
      );
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve(text);
      });
    });

  it('forwards both, and tells the upstream which scheme it was', async () => {
    edge.backend.forget();
    const got = await call({ ':path': '/a?b=c', ':method': 'POST' }, Buffer.from('hello'));
    expect([got.status, got.text]).toEqual([200, '{"ok":true}']);
    expect(got.headers.ratelimit).toBeDefined();
    const plain = await overTls('http/1.1', 'GET /d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(plain).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(edge.backend.requests.map(({ url, bodyText, headers }) => [url, bodyText, headers['x-forwarded-proto']])).toEqual([
      ['/a?b=c', 'hello', 'https'],
      ['/d', '', 'https'],
    ]);
    expect(edge.backend.requests[0]?.headers['x-forwarded-host']).toBe(`localhost:${new URL(edge.url).port}`);
  });

  it('an upstream that breaks off in the body is a stream error, never a whole answer', async () => {
    edge.backend.handleWith(resetConnection(1000));
    const got = await call({ ':path': '/broken' });
    edge.backend.handleWith(answerJson({ ok: true }));
    expect(got.resetWith).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  it('a refused upload is answered, the rest of it is not wanted, and the session goes on', async () => {
    await call({ ':path': '/closed' });
    const upload = session.request({ ':path': '/closed', ':method': 'POST' });
    upload.on('error', () => undefined).resume();
    upload.write(Buffer.alloc(1024 * 1024));
    const [head] = (await once(upload, 'response')) as [IncomingHttpHeaders];
    await once(upload, 'end');
    expect(head[':status']).toBe(429);
    upload.destroy();
    expect((await call({ ':path': '/next' })).status).toBe(200);
  });

  it('CONNECT is 501, a head over the bound 431, and the session goes on', async () => {
    const refused = await call({ ':method': 'CONNECT', ':authority': 'x:1' });
    expect(refused.status).toBe(501);
    // Node's own bound, of the same size, may come first; it resets the stream.
    const long = await call({ ':path': '/', 'x-long': 'a'.repeat(8000) });
    expect(long.status === 0 ? long.resetWith : long.status).toBe(long.status === 0 ? constants.NGHTTP2_ENHANCE_YOUR_CALM : 431);
    const plain = await overTls('http/1.1', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(8000)}\r\n\r\n`);
    expect(plain).toMatch(/^HTTP\/1\.1 431 /);
    expect((await call({ ':path': '/next' })).status).toBe(200);
  });

  it('slow heads, slow bodies and silent connections end in their time, on both', async () => {
    const head = await overTls('http/1.1', 'GET / HTTP/1.1\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
    const body = await overTls('http/1.1', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nh');
    expect(body).toMatch(/^HTTP\/1\.1 408 /);
    const slow = session.request({ ':path': '/', ':method': 'POST' });
    slow.on('error', () => undefined);
    slow.write('h');
    await new Promise((resolve) => slow.on('close', resolve));
    const silent = connectTcp(Number(new URL(edge.url).port), '127.0.0.1');
    expect(
      await new Promise((resolve) =>
        silent
          .on('close', () => {
            resolve('closed');
          })
          .on('error', () => undefined)
          .resume(),
      ),
    ).toBe('closed');
  });

  it.each([
    ['listener.tls.certFile: /.*/no.pem cannot be read', (good: Certificate) => ({ certFile: 'no.pem', keyFile: good.keyFile })],
    ['listener.tls.keyFile: .*edge.yaml is no PEM file', (good: Certificate) => ({ certFile: good.certFile, keyFile: 'edge.yaml' })],
    ['listener.tls: the files cannot be used, or not together', (good: Certificate) => ({ certFile: good.keyFile, keyFile: good.keyFile })],
  ])('%s: said at start', async (message, tls) => {
    const files = writeEdge('http://127.0.0.1:9', { policies: WIDE, edge: { listener: { tls: tls(certificate) } } });
    const start = startGateway(toGatewayEnv({ ...files.env, STORE: 'memory' }));
    await expect(start).rejects.toMatchObject({ name: 'EnvError', message: expect.stringMatching(message) as unknown });
    files.remove();
  });
});

describe('TLS to upstreams', () => {
  it('verifies the name of the URL or the given one, whatever Host goes on, and shows its own certificate', async () => {
    const [server, client, other] = await Promise.all([makeCertificate('api.internal'), makeCertificate('edge'), makeCertificate('x')]);
    const connections: string[] = [];
    const hosts: (string | undefined)[] = [];
    const upstream = createHttpsServer(
      { cert: server.cert, key: server.key, ca: client.cert, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        hosts.push(request.headers.host);
        response.end('ok');
      },
    );
    upstream.on('secureConnection', (socket: TLSSocket & { servername: string }) => {
      connections.push(`${socket.servername} ${String(socket.getPeerCertificate().subject.CN)}`);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const tls = { serverName: 'api.internal', caFile: server.certFile, certFile: client.certFile, keyFile: client.keyFile };
    const edge = await startEdge({
      routes: [
        { name: 'good', path: '/good', upstream: 'good' },
        { name: 'other-ca', path: '/other-ca', upstream: 'other-ca' },
        { name: 'other-name', path: '/other-name', upstream: 'other-name' },
      ],
      policies: WIDE,
      edge: {
        upstreams: {
          good: { url, host: 'caller', tls },
          'other-ca': { url, tls: { ...tls, caFile: other.certFile } },
          'other-name': { url, tls: { ...tls, serverName: 'other.internal' } },
        },
      },
    });
    try {
      for (const host of ['api.example', 'www.example', 'api.example']) {
        expect((await ask(edge.url, '/good', { headers: { host } })).status).toBe(200);
      }
      expect(hosts).toEqual(['api.example', 'www.example', 'api.example']);
      // Kept, whatever the Host.
      expect(connections).toEqual(['api.internal edge']);
      for (const path of ['/other-ca', '/other-name']) {
        const { status, headers } = await ask(edge.url, path);
        expect([status, headers['proxy-status']]).toEqual([502, expect.stringContaining('error=tls_certificate_error')]);
      }
    } finally {
      await edge.close();
      upstream.closeAllConnections();
      upstream.close();
      for (const one of [server, client, other]) one.remove();
    }
  });
});

describe('the cap on connections', () => {
  it('further ones are closed at once, and counted', async () => {
    const edge = await startEdge({ policies: WIDE, edge: { listener: { maxConnections: 2 } } });
    const { hostname, port } = new URL(edge.url);
    const open = () => connectTcp(Number(port), hostname).on('error', () => undefined);
    const held = [open(), open()];
    await Promise.all(held.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const third = open().resume();
    await new Promise((resolve) => third.once('close', resolve));
    expect((await ask(edge.gateway.adminUrl, '/metrics')).text).toMatch(/^esclusa_dropped_connections_total 1$/m);
    for (const socket of held) socket.destroy();
    await waitFor(async () => (await ask(edge.url, '/').catch(() => undefined))?.status === 200, { what: 'room again' });
    await edge.close();
  });
});
