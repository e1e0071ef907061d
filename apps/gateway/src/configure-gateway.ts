import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { METHODS, type RequestListener } from 'node:http';
import type { EdgeListener } from './listener/edge-listener.js';
import { canonicalTarget } from './edge/request-target.js';

/** How the edge's HTTP server is set up, in production and in tests alike. */
export function createGatewayAdapter(listener: EdgeListener): FastifyAdapter {
  return new FastifyAdapter({
    serverFactory: (handler: RequestListener) => listener.create(handler),
    clientErrorHandler: listener.onClientError,
    skipMiddie: true,
    rewriteUrl: canonicalTarget,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: 8192 },
  });
}

/**
 * To be called before `init()` or `listen()`. The server takes every method that HTTP knows, so that none slips by the guard, and as far
 * as it is concerned none has a body: nothing is read or judged by its content type before admission.
 */
export function configureGateway(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  for (const method of METHODS) if (method !== 'CONNECT') fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}
