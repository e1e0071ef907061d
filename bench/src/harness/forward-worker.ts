import replyFrom from '@fastify/reply-from';
import fastify, { type FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { ForwardHandler } from '../../../apps/gateway/src/proxy/forward-handler.js';
import { requestHeaders } from '../../../apps/gateway/src/proxy/request-headers.js';
import { responseHeaders } from '../../../apps/gateway/src/proxy/response-headers.js';
import { traceContext } from '../../../apps/gateway/src/edge/trace.js';

export const FORWARD_VARIANTS = ['reply-from', 'dispatch'] as const;
export type ForwardVariant = (typeof FORWARD_VARIANTS)[number];

const CONNECTIONS = 256;

function byDispatch(app: FastifyInstance, upstream: string): void {
  const pool = new Pool(upstream, { connections: CONNECTIONS, pipelining: 1 });
  app.all('*', (request, reply) => {
    reply.hijack();
    const { raw } = request;
    const trace = traceContext(undefined, true);
    const headers = requestHeaders(raw.rawHeaders, raw.headers.connection, {
      apiKeyHeader: 'x-api-key',
      dropAuthorization: false,
      keepHost: false,
      hop: { peerAddress: raw.socket.remoteAddress, trustedPeer: false, proto: 'http', host: raw.headers.host, edge: 'bench' },
      trace,
      identity: { tenant: undefined, user: undefined, tier: undefined },
      deadlineMs: undefined,
    });
    const handler = new ForwardHandler(reply.raw, {
      head: (fields) => responseHeaders(fields, { budget: [], exposed: undefined, requestId: trace.requestId }),
      ended: (error) => {
        if (error !== undefined) reply.raw.destroy();
      },
    });
    pool.dispatch({ path: raw.url ?? '/', method: request.method, headers, body: null }, handler);
  });
}

async function byReplyFrom(app: FastifyInstance, upstream: string): Promise<void> {
  await app.register(replyFrom, { base: upstream, undici: { connections: CONNECTIONS, pipelining: 1 } });
  app.all('*', (request, reply) => reply.from(request.raw.url ?? '/'));
}

/** Run as a process: `forward-worker.js VARIANT UPSTREAM`; tells its port. */
async function serve(variant: string, upstream: string): Promise<void> {
  const app = fastify();
  if (variant === 'dispatch') byDispatch(app, upstream);
  else await byReplyFrom(app, upstream);
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.on('disconnect', () => process.exit(0));
  process.send?.((app.server.address() as AddressInfo).port);
}

const [, , variant, upstream] = process.argv;
if (process.send !== undefined && variant !== undefined && upstream !== undefined) void serve(variant, upstream);
