import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { waitFor } from '#libs/testing';
import { WIDE, writeEdge, type EdgeFiles } from './support/edge.js';
import { ask } from './support/http.js';
import { spawnGateway, type GatewayProcess } from './support/processes.js';

const LONG = process.env.ESCLUSA_LONG !== undefined;
const MIB = 1024 * 1024;
const SIZE_MIB = LONG ? 1024 : 192;
const STREAMS = LONG ? 200 : 40;

/** Pieces that differ, so that one lost or twice is seen. */
function* pieces(count: number): Iterable<Buffer> {
  const piece = Buffer.alloc(MIB, 'esclusa ');
  for (let i = 0; i < count; i += 1) {
    piece.writeUInt32BE(i);
    yield Buffer.from(piece);
  }
}

function digestOf(count: number): string {
  const hash = createHash('sha256');
  for (const piece of pieces(count)) hash.update(piece);
  return hash.digest('hex');
}

async function digest(source: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source) hash.update(chunk);
  return hash.digest('hex');
}

describe('volume', () => {
  let files: EdgeFiles;
  let gateway: GatewayProcess;
  const open = new Set<IncomingMessage>();
  let aborts = 0;
  let ending = false;
  const upstream = createServer((request, response) => {
    const [, what, count] = (request.url ?? '').split('/');
    if (what === 'up') void digest(request).then((sum) => response.end(sum));
    else if (what === 'down') void pipeline(pieces(Number(count)), response).catch(() => undefined);
    else if (what === 'events') {
      open.add(request);
      const tick = setInterval(() => response.write('data: 1\n\n'), 100);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      response.once('close', () => {
        clearInterval(tick);
        open.delete(request);
        if (!ending) aborts += 1;
      });
    } else response.end('ok');
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    files = writeEdge(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, {
      policies: WIDE,
      edge: { listener: { requestMs: 600_000 } },
    });
    gateway = await spawnGateway({ ...files.env, STORE: 'memory' }, { nodeArgs: ['--import', './test/support/report-resources.js'] });
  });
  afterAll(async () => {
    await gateway.process.stop();
    upstream.closeAllConnections();
    upstream.close();
    files.remove();
  });

  const call = (path: string, method = 'GET'): ClientRequest => {
    const { hostname, port } = new URL(gateway.url);
    return httpRequest({ hostname, port, path, method, agent: false });
  };
  const answerOf = (request: ClientRequest) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject);
    });
  const up = async (count: number): Promise<string> => {
    const request = call(`/up/${count}`, 'POST');
    const [answer] = await Promise.all([answerOf(request), pipeline(pieces(count), request)]);
    return (await answer.toArray()).join('');
  };
  const down = async (count: number): Promise<string> => {
    const request = call(`/down/${count}`);
    request.end();
    return digest(await answerOf(request));
  };
  const rssMib = (): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${gateway.process.pid}/status`, 'utf8'))?.[1]) / 1024;
  const peakDuring = async <T>(act: () => Promise<T>): Promise<{ readonly value: T; readonly peakMib: number }> => {
    let peakMib = rssMib();
    const watch = setInterval(() => (peakMib = Math.max(peakMib, rssMib())), 50);
    const value = await act().finally(() => {
      clearInterval(watch);
    });
    return { value, peakMib };
  };

  it(`${SIZE_MIB} MiB go up and down unchanged, and the gateway grows by less than 64 MiB`, async () => {
    for (let i = 0; i < 2; i += 1) await Promise.all([up(32), down(32)]);
    const beforeMib = rssMib();
    const expected = digestOf(SIZE_MIB);
    const upward = await peakDuring(() => up(SIZE_MIB));
    const downward = await peakDuring(() => down(SIZE_MIB));
    expect([upward.value, downward.value]).toEqual([expected, expected]);
    const grewBy = Math.max(upward.peakMib, downward.peakMib) - beforeMib;
    if (LONG) process.stdout.write(`volume: RSS ${beforeMib.toFixed(0)} MiB before, grew by ${grewBy.toFixed(0)} MiB at most\n`);
    expect(grewBy).toBeLessThan(64);
  });

  it(`${STREAMS} event streams, half of them aborted: the upstream sees those within a second, and no handle is left`, async () => {
    const resources = async (): Promise<readonly string[]> => {
      const seen = gateway.process.lines.length;
      process.kill(gateway.process.pid, 'SIGUSR2');
      const line = await waitFor(() => gateway.process.lines.slice(seen).find((one) => one.startsWith('resources ')), {
        what: 'the resources',
      });
      return (JSON.parse(line.slice('resources '.length)) as string[]).toSorted();
    };
    await ask(gateway.url, '/ok');
    const sockets = async () => (await resources()).filter((name) => name === 'TCPSocketWrap').length;
    await waitFor(async () => (await sockets()) === 0, { what: 'earlier connections to be closed', timeoutMs: 20_000, intervalMs: 200 });
    const before = await resources();

    const calls = Array.from({ length: STREAMS }, () => call('/events'));
    const answers = await Promise.all(
      calls.map(async (request) => {
        request.on('error', () => undefined).end();
        const answer = await answerOf(request);
        answer.on('error', () => undefined).resume();
        return answer;
      }),
    );
    expect(open.size).toBe(STREAMS);
    for (const request of calls.slice(STREAMS / 2)) request.destroy();
    await waitFor(() => aborts === STREAMS / 2, { what: 'the upstream to see every abort', timeoutMs: 1000 });
    expect(open.size).toBe(STREAMS / 2);
    expect(answers.slice(0, STREAMS / 2).every((answer) => !answer.destroyed)).toBe(true);

    ending = true;
    for (const request of open) request.socket.destroy();
    for (const request of calls) request.destroy();
    await waitFor(async () => (await sockets()) === 0, { what: 'every socket to be closed', timeoutMs: 20_000, intervalMs: 200 });
    expect(await resources()).toEqual(before);
  });
});
