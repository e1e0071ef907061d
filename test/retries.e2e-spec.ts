import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { answerAfter, answerJson, failWith, freePort, resetConnection, startBackend, waitFor } from '#libs/testing';
import { WIDE, bucket, policy, startEdge, type TestEdge } from './support/edge.js';
import { ask, tally, times } from './support/http.js';
import { startUpstreamProcess } from './support/processes.js';

/** The first request to it goes wrong, later ones do not. */
const wrongOnce = (wrong: RequestListener): RequestListener => {
  let seen = 0;
  return (request, response) => {
    (seen++ === 0 ? wrong : answerJson({ ok: true }))(request, response);
  };
};

describe('retries', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge({ policies: WIDE });
  });
  beforeEach(() => {
    edge.backend.forget();
  });
  afterAll(() => edge.close());

  const attempts = (): number => edge.backend.requests.length;

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])(
    '%s is sent once more after a reset: doing it twice changes nothing',
    async (method) => {
      edge.backend.handleWith(wrongOnce(resetConnection()));
      expect([(await ask(edge.url, '/x', { method })).status, attempts()]).toEqual([200, 2]);
    },
  );

  it.each(['POST', 'PATCH'])('%s is not: it may have been done', async (method) => {
    edge.backend.handleWith(wrongOnce(resetConnection()));
    expect([(await ask(edge.url, '/x', { method })).status, attempts()]).toEqual([502, 1]);
  });

  it('a body that has been sent cannot be sent again', async () => {
    edge.backend.handleWith(wrongOnce(resetConnection()));
    expect([(await ask(edge.url, '/x', { method: 'PUT', body: 'once' })).status, attempts()]).toEqual([502, 1]);
  });

  it.each([502, 503, 504])('%s without Retry-After is tried once more; a second one is passed on as it is', async (status) => {
    edge.backend.handleWith(wrongOnce(failWith(status)));
    expect([(await ask(edge.url, '/x')).status, attempts()]).toEqual([200, 2]);
    edge.backend.forget();
    edge.backend.handleWith(failWith(status));
    const answer = await ask(edge.url, '/x');
    expect([answer.status, answer.json(), attempts()]).toEqual([status, { error: `the backend says ${status}` }, 2]);
  });

  it.each([
    [503, '7'],
    [429, '7'],
    [429, undefined],
    [500, undefined],
  ])('%s with Retry-After %s is passed on at once, as it is', async (status, retryAfter) => {
    edge.backend.handleWith(answerJson({}, status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }));
    const answer = await ask(edge.url, '/x');
    expect([answer.status, answer.headers['retry-after'], attempts()]).toEqual([status, retryAfter, 1]);
  });

  it('no answer in time is not tried again: it would take as long, and be as much load', async () => {
    const slow = await startEdge({
      policies: WIDE,
      edge: { upstreams: { backend: { url: edge.backend.url, timeouts: { headersMs: 100 } } } },
    });
    edge.backend.handleWith(answerAfter(500));
    expect([(await ask(slow.url, '/x')).status, attempts()]).toEqual([504, 1]);
    await slow.close();
  });

  it('nobody who has left is retried for', async () => {
    edge.backend.handleWith((request, response) => {
      request.socket.on('close', () => undefined);
      setTimeout(() => response.socket?.resetAndDestroy(), 100);
    });
    const left = new AbortController();
    const going = fetch(`${edge.url}/x`, { signal: left.signal });
    await waitFor(() => attempts() === 1, { what: 'the request' });
    left.abort();
    await expect(going).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(attempts()).toBe(1);
  });

  it('stay within a tenth of the requests, and a few at the start', async () => {
    const fresh = await startEdge({ policies: WIDE });
    fresh.backend.handleWith(failWith(503));
    for (let i = 0; i < 20; i += 1) await times(10, () => ask(fresh.url, '/x'));
    // 200 requests save up 20 retries on top of the 10 that a fresh upstream has.
    expect(fresh.backend.requests.length).toBeGreaterThan(215);
    expect(fresh.backend.requests.length).toBeLessThanOrEqual(230);
    expect((await ask(fresh.gateway.adminUrl, '/metrics')).text).toContain(
      `esclusa_upstream_retries_total{upstream="backend"} ${fresh.backend.requests.length - 200}`,
    );
    await fresh.close();
  });

  it('can be switched off', async () => {
    const off = await startEdge({ policies: WIDE, edge: { upstreams: { backend: { url: edge.backend.url, retries: { attempts: 0 } } } } });
    edge.backend.handleWith(wrongOnce(failWith(503)));
    expect([(await ask(off.url, '/x')).status, attempts()]).toEqual([503, 1]);
    await off.close();
  });

  it('a caller’s own retry is a request like any other: it is charged', async () => {
    const charged = await startEdge({
      policies: [...WIDE, policy('slow', ['tenant'], bucket(10, '1/600'))],
      callers: { a: { tenant: 'a' } },
    });
    charged.backend.handleWith(failWith(503));
    const remaining = async (): Promise<number> => {
      const answer = await ask(charged.url, '/x', { headers: { 'x-api-key': charged.keys.a ?? '' } });
      return Number(/"slow";r=(\d+)/.exec(String(answer.headers.ratelimit))?.[1]);
    };
    const first = await remaining();
    expect(await remaining()).toBe(first - 1);
    await charged.close();
  });
});

describe('several addresses of one upstream', () => {
  it('are used in turn; one that refuses is taken out at once, without an error for anybody, and comes back by itself', async () => {
    const second = await startBackend(answerJson({ from: 'second' }));
    const port = await freePort();
    const edge = await startEdge({
      policies: WIDE,
      edge: { upstreams: { backend: { urls: [`http://127.0.0.1:${port}`, second.url] } } },
    });
    const health = async (): Promise<readonly string[]> =>
      ((await ask(edge.gateway.adminUrl, '/metrics')).text.match(/esclusa_upstream_healthy\{.*/g) ?? []).map((line) => line.slice(-1));
    // A body is no obstacle as long as nothing of it has been read.
    const answers = await times(50, (i) => ask(edge.url, '/x', i % 2 === 0 ? {} : { method: 'POST', body: 'x'.repeat(100_000) }));
    expect([tally(answers), await health()]).toEqual([{ 200: 50 }, ['0', '1']]);
    const first = await startUpstreamProcess(port);
    await waitFor(async () => (await health())[0] === '1', { what: 'the address to come back' });
    second.forget();
    await times(40, () => ask(edge.url, '/x'));
    expect(second.requests).toHaveLength(20);
    await edge.close();
    await first.process.kill();
    await second.close();
  });

  it('one that accepts connections and never answers is taken out too, as long as there is another', async () => {
    const hung = await startBackend(() => undefined);
    const second = await startBackend(answerJson({ from: 'second' }));
    const timeouts = { headersMs: 100 };
    const edge = await startEdge({
      policies: WIDE,
      edge: { upstreams: { backend: { urls: [hung.url, second.url], timeouts }, lone: { url: hung.url, timeouts } } },
      routes: [
        { name: 'pair', path: '/pair' },
        { name: 'lone', path: '/lone', upstream: 'lone' },
      ],
    });
    const oneByOne = async (path: string, count: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < count; i += 1) statuses.push((await ask(edge.url, path)).status);
      return statuses;
    };
    expect((await oneByOne('/pair', 20)).filter((status) => status === 504)).toHaveLength(5);
    expect(await oneByOne('/lone', 8)).toEqual(Array.from({ length: 8 }, () => 504));
    await edge.close();
    await hung.close();
    await second.close();
  });

  it('where none is left for another attempt, the answer tells what the only one met', async () => {
    const edge = await startEdge({ policies: WIDE, edge: { upstreams: { backend: { url: `http://127.0.0.1:${await freePort()}` } } } });
    const answers = [await ask(edge.url, '/x'), await ask(edge.url, '/x')];
    expect(answers.map(({ status, headers }) => [status, headers['proxy-status']])).toEqual([
      [502, expect.stringContaining('connection_refused')],
      [503, expect.stringContaining('destination_unavailable')],
    ]);
    expect((await ask(edge.gateway.adminUrl, '/metrics')).text).not.toMatch(/^esclusa_upstream_retries_total\{.*\} [1-9]/m);
    await edge.close();
  });
});
