import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { Identifier } from '#libs/identity';
import type { Visit } from '../admission/visit.js';
import { exposedFields } from '../answers/cors.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { targetOf } from '../edge/request-target.js';
import { GatewayEnv } from '../gateway.env.js';
import { ForwardHandler } from './forward-handler.js';
import { requestHeaders, responseHeaders } from './headers.js';
import { Upstreams } from './upstreams.js';

/** Sends an admitted request to its upstream and streams the answer back, both ways without buffering. */
@Injectable()
export class Forwarder {
  constructor(
    private readonly upstreams: Upstreams,
    private readonly identifier: Identifier,
    private readonly rules: EdgeRules,
    private readonly env: GatewayEnv,
  ) {}

  /**
   * Resolves when the response is over, whole or broken off; to the fault where the upstream failed before it answered, with the
   * response still to be written.
   */
  forward(request: FastifyRequest, reply: FastifyReply, visit: Visit): Promise<Error | undefined> {
    const response = reply.raw;
    // The caller left while admission decided: there is no close to wait for any more.
    if (response.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const handler = new ForwardHandler(response, {
        head: (rawHeaders) => this.head(rawHeaders, request, visit),
        started: () => {
          reply.hijack();
        },
        failed: resolve,
      });
      response.once('close', () => {
        if (!response.writableFinished) handler.cancel();
        resolve(undefined);
      });
      this.upstreams.pool(visit.decision.route.upstream ?? '').dispatch(this.upstreamRequest(request, visit), handler);
    });
  }

  private upstreamRequest(request: FastifyRequest, visit: Visit): Dispatcher.DispatchOptions {
    const { raw } = request;
    const target = targetOf(raw);
    if ('refused' in target) throw new Error('a refused target cannot be forwarded');
    const peerAddress = raw.socket.remoteAddress;
    const hasBody = raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined;
    return {
      path: target.path + target.query,
      method: request.method,
      headers: requestHeaders(raw.rawHeaders, raw.headers.connection, {
        apiKeyHeader: this.rules.current.edge.identity.apiKeys?.header,
        dropAuthorization: visit.dropAuthorization,
        peerAddress,
        trustedPeer: this.identifier.trusts(peerAddress),
      }),
      body: hasBody ? raw : null,
    };
  }

  private head(rawHeaders: readonly Buffer[], request: FastifyRequest, visit: Visit): string[] {
    const exposed = request.headers.origin === undefined ? undefined : exposedFields(this.env.RATELIMIT_HEADERS);
    return responseHeaders(rawHeaders, { budget: visit.fields, exposed });
  }
}
