import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '#libs/testing';
import { bucket, policy, startEdge, WIDE, type TestEdge } from './support/edge.js';
import { ask, askRaw } from './support/http.js';

const LONG = process.env.ESCLUSA_LONG !== undefined;
const MIB = 1024 * 1024;
const post = (...lines: readonly string[]): string => `${['POST /closed HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n`;
const NEXT = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('the body of a refused request', () => {
  let edge: TestEdge;

  beforeAll(async () => {
    edge = await startEdge({
      routes: [
        { name: 'closed', path: '/closed' },
        { name: 'all', path: '/*' },
      ],
      policies: [...WIDE, policy('never', ['ip'], bucket(1, '1/3600'), { routes: ['closed'] })],
    });
    await ask(edge.url, '/closed');
    edge.backend.forget();
  });
  afterAll(() => edge.close());

  /** Sends head and body as fast as they are taken, then `NEXT`, and reads until the connection closes. */
  const send = (
    head: string,
    body: () => Iterable<Buffer>,
  ): Promise<{ readonly text: string; readonly sent: number; readonly error: boolean }> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(edge.url);
      let [text, sent, error] = ['', 0, false];
      const socket = connect(Number(port), hostname, () => void write());
      const write = async (): Promise<void> => {
        socket.write(head);
        for (const chunk of body()) {
          if (socket.destroyed) return;
          sent += chunk.length;
          if (!socket.write(chunk))
            await Promise.race([new Promise((done) => socket.once('drain', done)), new Promise((done) => socket.once('close', done))]);
        }
        if (!socket.destroyed) socket.write(NEXT);
      };
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      socket.on('error', () => (error = true));
      socket.on('close', () => {
        resolve({ text, sent, error });
      });
    });
  function* mib(count: number): Iterable<Buffer> {
    for (let i = 0; i < count; i += 1) yield Buffer.alloc(MIB, 'x');
  }
  const statuses = (text: string): readonly string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '');

  it('a short one is read, and the connection goes on with the next request', async () => {
    const { text } = await send(post('Content-Length: 60000'), () => [Buffer.alloc(60_000, 'x')]);
    expect(statuses(text)).toEqual(['429', '200']);
  });

  it('50 MiB are never taken for requests: the 429 arrives, and the connection closes cleanly', async () => {
    const { text, error } = await send(post(`Content-Length: ${50 * MIB}`), () => mib(50));
    expect(statuses(text)).toEqual(['429']);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
    expect(text).toMatch(/"violated-policies":\["never"\]/);
    expect(error).toBe(false);
    expect((await ask(edge.url, '/next')).status).toBe(200);
  });

  it('a body without an end is cut off, and costs no memory', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const { text, sent } = await send(post('Transfer-Encoding: chunked'), function* () {
      const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB, 'x'), Buffer.from('\r\n')]);
      for (let i = 0; i < 200; i += 1) yield chunk;
    });
    // What was still being sent may reset what was read, as it does for anyone who does not stop.
    expect(text).toMatch(/^(HTTP\/1\.1 429 |$)/);
    expect(sent).toBeLessThan(100 * MIB);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * MIB);
  });

  it('one that waits for 100 (Continue) is not asked for', async () => {
    const answer = await askRaw(edge.url, post('Expect: 100-continue', 'Content-Length: 5'));
    expect(statuses(answer)).toEqual(['429']);
  });

  it('nothing of any of them reached the upstream', () => {
    expect(new Set(edge.backend.requests.map(({ url }) => url))).toEqual(new Set(['/next']));
  });

  it('HTTP-11: slow senders are let go of within the documented time, and others do not notice', async () => {
    const { hostname, port } = new URL(edge.url);
    const count = LONG ? 200 : 50;
    let closed = 0;
    const startedAt = performance.now();
    const before = process.memoryUsage().rss;
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(Number(port), hostname, () => socket.write(post('Transfer-Encoding: chunked')));
      const drip = setInterval(() => socket.write('1\r\nx\r\n'), 1000);
      socket.on('error', () => undefined).resume();
      socket.on('close', () => {
        clearInterval(drip);
        closed += 1;
      });
      return socket;
    });
    while (closed < count && performance.now() - startedAt < 10_000) {
      expect((await ask(edge.url, '/next')).status).toBe(200);
      await sleep(200);
    }
    await waitFor(() => closed === count, { what: 'every slow sender to be let go of', timeoutMs: 100 });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
    for (const socket of sockets) socket.destroy();
  });
});

describe('slow requests', () => {
  const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n';
  const withEdge = async (listener: Readonly<Record<string, number>>, act: (edge: TestEdge) => Promise<void>): Promise<void> => {
    const edge = await startEdge({ policies: WIDE, edge: { listener } });
    await act(edge).finally(() => edge.close());
  };
  const brokenOff = (edge: TestEdge) =>
    waitFor(() => edge.backend.requests.length === 1 && edge.backend.requests[0]?.aborted === true, {
      what: 'the upstream to see the end of it',
    });

  it('a head has headersMs: 408 and close', () =>
    withEdge({ headersMs: 300, requestMs: 60_000 }, async ({ url, backend }) => {
      expect(await askRaw(url, 'GET / HTTP/1.1\r\nHost: x\r\n')).toMatch(/^HTTP\/1\.1 408 /);
      expect(backend.requests).toEqual([]);
    }));

  it('a pause in a body has bodyIdleMs: 408', () =>
    withEdge({ bodyIdleMs: 300, requestMs: 60_000 }, async (edge) => {
      expect(await askRaw(edge.url, `${POST}half`, /^HTTP\/1\.1 408 /)).toMatch(/\r\nConnection: close\r\n/i);
      await brokenOff(edge);
    }));

  it('a whole request has requestMs, however steadily it comes: 408 and close', () =>
    withEdge({ headersMs: 300, requestMs: 900 }, async (edge) => {
      const { hostname, port } = new URL(edge.url);
      const text = await new Promise<string>((resolve) => {
        let got = '';
        const socket = connect(Number(port), hostname, () => socket.write(POST));
        const drip = setInterval(() => socket.write('x'), 100);
        socket.on('data', (chunk) => (got += String(chunk))).on('error', () => undefined);
        socket.on('close', () => {
          clearInterval(drip);
          resolve(got);
        });
      });
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      await brokenOff(edge);
    }));
});
