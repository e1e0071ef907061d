import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { METHODS, type IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { canonicalTarget } from './edge/request-target.js';

/** The body of a request to one of the edge's own controllers. */
const MAX_OWNED_BODY_BYTES = 1024 * 1024;

/** How the edge's HTTP server is set up, in production and in tests alike. */
export function createGatewayAdapter(): FastifyAdapter {
  return new FastifyAdapter({
    skipMiddie: true,
    rewriteUrl: canonicalTarget,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: 8192 },
  });
}

/** To be called before `init()` or `listen()`. */
export function configureGateway(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  for (const method of METHODS) {
    if (!fastify.supportedMethods.includes(method) && method !== 'CONNECT') fastify.addHttpMethod(method, { hasBody: true });
  }
  fastify.removeAllContentTypeParsers();
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('*', (request: FastifyRequest, payload, done) => {
    // The proxy streams the body itself, after admission; only the edge's own controllers get it parsed.
    if (isProxied(request)) {
      done(null);
      return;
    }
    readText(request, payload).then(
      (text) => {
        if (text === '') done(null);
        else void parseJson(request, text, done);
      },
      (error: unknown) => {
        done(error as Error);
      },
    );
  });
}

function readText(request: FastifyRequest, payload: IncomingMessage): Promise<string> {
  return getRawBody(payload, { limit: MAX_OWNED_BODY_BYTES, length: request.headers['content-length'] ?? null, encoding: 'utf8' });
}

function isProxied(request: FastifyRequest): boolean {
  return request.routeOptions.url?.endsWith('*') === true;
}
