import replyFrom from '@fastify/reply-from';
import express from 'express';
import fastify from 'fastify';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { Agent, createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool, type Dispatcher } from 'undici';

/** As many connections to the upstream as the gateway may have by default. */
const CONNECTIONS = 256;

const proxies = {
  /** The plain plugin on plain Fastify. */
  'reply-from': async (upstream: string) => {
    const app = fastify();
    await app.register(replyFrom, { base: upstream, undici: { connections: CONNECTIONS, pipelining: 1 } });
    app.all('*', (request, reply) => reply.from(request.raw.url ?? '/'));
    await app.ready();
    return app.server;
  },
  'express-hpm': (upstream: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    return createServer(express().use(createProxyMiddleware({ target: upstream, agent })) as RequestListener);
  },
  /** The least that a proxy on Node can be: header fields are passed on as they are. For requests without a body. */
  undici: (upstream: string) => {
    const pool = new Pool(upstream, { connections: CONNECTIONS, pipelining: 1 });
    return createServer((request, response) => {
      const { url = '/', rawHeaders } = request;
      pool.dispatch(
        { path: url, method: request.method as Dispatcher.HttpMethod, headers: rawHeaders, body: null },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_, status, headers) => void response.writeHead(status, headers),
          onResponseData: (_, chunk) => void response.write(chunk),
          onResponseEnd: () => void response.end(),
          onResponseError: () => void response.destroy(),
        },
      );
    });
  },
} satisfies Readonly<Record<string, (upstream: string) => Server | Promise<Server>>>;

export type ProxyVariant = keyof typeof proxies;

/** Run as a process: `proxy-worker.js VARIANT UPSTREAM`; prints where it listens. */
const [, , variant, upstream = ''] = process.argv;
const server = await proxies[variant as ProxyVariant](upstream);
// The load keeps connections that it does not use all the time.
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
// A process that ends of itself leaves its CPU profile, where one is wanted.
process.once('SIGTERM', () => process.exit(0));
