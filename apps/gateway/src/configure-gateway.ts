import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { METHODS, type IncomingMessage, type RequestListener } from 'node:http';
import findMyWay, { type HTTPMethod, type HTTPVersion, type Instance } from 'find-my-way';
import { canonicalTarget, targetOf } from './edge/request-target.js';
import type { EdgeListener } from './listener/edge-listener.js';
import { Entrance } from './proxy/entrance.js';

const ROUTING = { ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: 8192 };

/** How the edge's HTTP server is set up, in production and in tests alike. */
export function createGatewayAdapter(listener: EdgeListener): FastifyAdapter {
  return new FastifyAdapter({
    serverFactory: (handler: RequestListener) => listener.create(handler),
    clientErrorHandler: listener.onClientError,
    skipMiddie: true,
    rewriteUrl: canonicalTarget,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: ROUTING,
  });
}

/**
 * To be called before `init()` or `listen()`. What no controller can be meant by goes to the entrance right from the listener. Fastify and Nest see
 * the rest; what turns out to be none of theirs (another version, say) comes back by the catch-all. To them no method has a body: nothing is read
 * or judged by its content type before admission.
 */
export function configureGateway(app: NestFastifyApplication, listener: EdgeListener): void {
  const fastify = app.getHttpAdapter().getInstance();
  const entrance = app.get(Entrance);
  for (const method of METHODS) if (method !== 'CONNECT') fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  fastify.all('*', (request, reply) => {
    reply.hijack();
    entrance.take(request.raw, reply.raw);
  });
  const owned = findMyWay(ROUTING);
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat() as HTTPMethod[]) if (!owned.hasRoute(one, url)) owned.on(one, url, () => undefined);
  });
  listener.onRequest((request, response) => {
    canonicalTarget(request);
    if (isOwned(owned, request)) return false;
    entrance.take(request, response);
    return true;
  });
}

function isOwned(owned: Instance<HTTPVersion.V1>, request: IncomingMessage): boolean {
  const target = targetOf(request);
  return 'path' in target && owned.find(request.method as HTTPMethod, target.path) !== null;
}
