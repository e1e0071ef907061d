import { afterEach, describe, expect, it } from '@jest/globals';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEdge, WIDE, type TestEdge } from './support/edge.js';
import { tally } from './support/http.js';
import { startUpstreamProcess } from './support/processes.js';

const LONG = process.env.ESCLUSA_LONG !== undefined;
const SECONDS = LONG ? 10 : 4;
const RATE = LONG ? 500 : 200;

interface Seen {
  readonly status: number | string;
  readonly retryAfter: string | undefined;
}

describe('an upstream that is restarted under idempotent load', () => {
  let edge: TestEdge;
  const running = new Map<number, Awaited<ReturnType<typeof startUpstreamProcess>>>();

  afterEach(async () => {
    await edge.close();
    await Promise.all([...running.values()].map(({ process }) => process.kill()));
    running.clear();
  });

  const start = async (port = 0): Promise<number> => {
    const upstream = await startUpstreamProcess(port, 5);
    running.set(upstream.port, upstream);
    return upstream.port;
  };
  /** `RATE` requests a second, whatever becomes of them; `during` runs a quarter of the way. */
  const load = async (during: () => Promise<void>): Promise<readonly Seen[]> => {
    const { hostname, port } = new URL(edge.url);
    const agent = new Agent({ keepAlive: true });
    const one = () =>
      new Promise<Seen>((resolve) => {
        httpRequest({ hostname, port, path: '/x', agent }, (response) => {
          response.resume().once('end', () => {
            resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
          });
        })
          .on('error', (error) => {
            resolve({ status: error.message, retryAfter: undefined });
          })
          .end();
      });
    const answers: Promise<Seen>[] = [];
    const startedAt = performance.now();
    const restart = sleep(SECONDS * 250).then(during);
    while (answers.length < SECONDS * RATE) {
      while (answers.length < Math.min(SECONDS * RATE, ((performance.now() - startedAt) * RATE) / 1000)) answers.push(one());
      await sleep(2);
    }
    await restart;
    const seen = await Promise.all(answers);
    agent.destroy();
    return seen;
  };
  const restart = async (port: number): Promise<void> => {
    await running.get(port)?.process.kill();
    await sleep(LONG ? 1000 : 300);
    await start(port);
  };

  it('with two addresses no caller sees an error', async () => {
    const ports = [await start(), await start()];
    edge = await startEdge({ policies: WIDE, edge: { upstreams: { backend: { urls: ports.map((port) => `http://127.0.0.1:${port}`) } } } });
    const seen = await load(() => restart(ports[0] as number));
    expect(tally(seen)).toEqual({ 200: SECONDS * RATE });
  });

  it('with one they see 502 and 503 with Retry-After, and 200 again', async () => {
    const port = await start();
    edge = await startEdge({ policies: WIDE, edge: { upstreams: { backend: { url: `http://127.0.0.1:${port}` } } } });
    const seen = await load(() => restart(port));
    const failed = seen.filter(({ status }) => status !== 200);
    if (LONG) process.stdout.write(`restart: ${JSON.stringify(tally(seen))}\n`);
    expect(failed.length).toBeGreaterThan(0);
    expect(
      failed.filter(({ status, retryAfter }) => ![502, 503].includes(status as number) || !/^[1-9]\d*$/.test(retryAfter ?? '')),
    ).toEqual([]);
    expect(seen.slice(-RATE / 4).every(({ status }) => status === 200)).toBe(true);
  });
});
