import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '#libs/testing';
import { toGatewayEnv } from '../apps/gateway/src/gateway.env.js';
import { startGateway, type RunningGateway } from '../apps/gateway/src/start-gateway.js';
import { bucket, policy, writeEdge, type EdgeFiles } from './support/edge.js';
import { ask, askRaw } from './support/http.js';
import { BROKEN_BODIES, line, REFUSED, TAKEN } from './support/smuggling-inputs.js';

const NEXT = 'GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const BUDGET = 1000;

describe('HTTP-13: what two servers could read in two ways', () => {
  let files: EdgeFiles;
  let gateway: RunningGateway;
  /** Every byte that any upstream connection has carried. */
  let wire = '';
  let malformed = 0;
  const requests: { readonly request: IncomingMessage; body: string }[] = [];
  const upstream = createServer((request, response) => {
    const seen = { request, body: '' };
    requests.push(seen);
    request.on('data', (chunk) => (seen.body += String(chunk))).on('error', () => undefined);
    request.on('end', () => response.end('ok'));
  });

  beforeAll(async () => {
    upstream.on('connection', (socket) => socket.on('data', (chunk) => (wire += chunk.toString('latin1'))));
    upstream.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (error.code?.startsWith('HPE_') === true && error.code !== 'HPE_INVALID_EOF_STATE') malformed += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    files = writeEdge(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, {
      policies: [policy('address', ['ip'], bucket(BUDGET, `${BUDGET}/3600`))],
    });
    gateway = await startGateway(toGatewayEnv({ ...files.env, STORE: 'memory', ADMIN_TOKEN: 'a token of some length' }));
  });
  beforeEach(() => {
    wire = '';
    malformed = 0;
    requests.length = 0;
  });
  afterAll(async () => {
    await gateway.close();
    upstream.closeAllConnections();
    upstream.close();
    files.remove();
  });

  const spent = async (): Promise<number> => {
    const keys = await ask(gateway.adminUrl, '/keys?route=all&ip=127.0.0.1', {
      headers: { authorization: 'Bearer a token of some length' },
    });
    return BUDGET - (keys.json().keys as readonly { readonly remaining: number }[])[0]!.remaining;
  };
  const counted = async (): Promise<number> => {
    const { text } = await ask(gateway.adminUrl, '/metrics');
    return [...text.matchAll(/^esclusa_bad_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
  };

  it.each(REFUSED.map(({ what, status, bytes }) => [what, status, bytes] as const))(
    '%s: %i and the connection closes; the upstream saw nothing, nobody paid',
    async (_what, status, bytes) => {
      const [spentBefore, countedBefore] = [await spent(), await counted()];
      const answer = await askRaw(gateway.url, bytes + NEXT);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toHaveLength(1);
      expect(answer).toMatch(/\r\nConnection: close\r\n/i);
      expect(answer).toContain('application/problem+json');
      expect(wire).toBe('');
      expect([(await spent()) - spentBefore, (await counted()) - countedBefore]).toEqual([0, 1]);
    },
  );

  it.each(BROKEN_BODIES.map(({ what, bytes }) => [what, bytes] as const))(
    '%s: the connection closes; the upstream saw no whole request',
    async (_what, bytes) => {
      const answer = await askRaw(gateway.url, bytes + NEXT);
      expect(answer).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
      expect(answer.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0).toBeLessThanOrEqual(1);
      // What had begun is broken off, so that the upstream does not take it for whole.
      await waitFor(() => requests.every(({ request }) => request.destroyed), { what: 'the upstream call to be broken off' });
      expect(requests.filter(({ request }) => request.complete)).toEqual([]);
      expect(wire).not.toContain('smuggled');
      expect(malformed).toBe(0);
    },
  );

  it.each(TAKEN.map(({ what, bytes, body }) => [what, bytes, body] as const))(
    '%s: the upstream saw exactly one well-formed request, and the next one by itself',
    async (_what, bytes, body) => {
      const answer = await askRaw(gateway.url, bytes + NEXT);
      expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
      expect(requests.map(({ request }) => request.url)).toEqual(['/target', '/smuggled']);
      expect(requests[0]?.body).toBe(body);
      expect(requests[0]?.request.complete).toBe(true);
      expect(requests[0]?.request.trailers).toEqual({});
      expect(wire.match(/^(?:content-length|transfer-encoding|content_length|transfer_encoding):/gim)).toHaveLength(1);
      expect(malformed).toBe(0);
    },
  );

  it('requests sent in one breath go on one by one, in order, and are answered in order', async () => {
    let open = 0;
    let most = 0;
    const count = (_request: IncomingMessage, response: ServerResponse): void => {
      most = Math.max(most, (open += 1));
      response.once('close', () => (open -= 1));
    };
    upstream.prependListener('request', count);
    const urls = Array.from({ length: 300 }, (_, i) => `/target/${i}`);
    const heads = urls.map((url, i) => line(`${i % 2 === 0 ? 'GET' : 'DELETE'} ${url} HTTP/1.1`));
    const answer = await askRaw(gateway.url, heads.join('') + NEXT);
    upstream.off('request', count);
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(301);
    expect(requests.map(({ request }) => request.url)).toEqual([...urls, '/smuggled']);
    expect(most).toBe(1);
  });

  it('a broken request behind a good one: the good one is answered whole, and the connection closes', async () => {
    const answer = await askRaw(gateway.url, line('GET /target HTTP/1.1') + 'GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n' + NEXT);
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(requests.map(({ request }) => request.url)).toEqual(['/target']);
    const garbled = await askRaw(gateway.url, line('GET /target HTTP/1.1') + 'GET /x HTTP/1.1\r\nHost: a\r\n obs: b\r\n\r\n' + NEXT);
    expect(garbled.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200']);
    expect(garbled).toMatch(/\r\n\r\n(?:2\r\n)?ok/);
  });

  it('a head that never ends: nothing goes on', async () => {
    expect(await askRaw(gateway.url, 'GET /target HTTP/1.1\r\nHost: x\r\n\r', /never/).catch(() => '')).toBe('');
    expect(wire).toBe('');
  });
});
