import { Injectable, Logger } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Visit } from '../admission/visit.js';
import { exposedFields } from '../answers/cors.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { targetOf } from '../edge/request-target.js';
import { GatewayEnv } from '../gateway.env.js';
import { CountedLog } from '../telemetry/counted-log.js';
import { ProxyMetrics } from '../telemetry/proxy-metrics.js';
import { Exchange, type UpgradeWish } from './exchange.js';
import { passedUsBefore, type Hop } from './forwarding-fields.js';
import { requestHeaders } from './request-headers.js';
import { responseHeaders } from './response-headers.js';
import { UpstreamFault, faultAnswer } from './upstream-faults.js';
import { Upstreams } from './upstreams.js';

/** Sends an admitted request to its upstream and streams the answer back, both ways without buffering. */
@Injectable()
export class Forwarder {
  private readonly logger = new Logger('Forwarder');
  private readonly faults = new CountedLog('Upstream', 'no whole answer');

  constructor(
    private readonly upstreams: Upstreams,
    private readonly rules: EdgeRules,
    private readonly metrics: ProxyMetrics,
    private readonly env: GatewayEnv,
  ) {}

  /** Resolves when the response is over, whole or broken off. @throws Refusal where the upstream failed before it answered */
  async forward(request: IncomingMessage, response: ServerResponse, visit: Visit, upgrade: UpgradeWish | undefined): Promise<void> {
    // The caller left while admission decided: there is no close to wait for any more.
    if (response.destroyed) return;
    const { route } = visit.decision;
    const upstream = this.upstreams.get(route.upstream ?? '');
    const { name } = upstream.config;
    const onFault = (fault: UpstreamFault, error: Error): void => {
      this.noteFault(name, visit.trace.requestId, fault, error);
    };
    if (passedUsBefore(request.headers.via, this.rules.current.edge.name)) {
      const loop = new UpstreamFault('proxy_loop_detected');
      onFault(loop, loop);
      throw faultAnswer(loop, name);
    }
    const endsAtMs = route.deadlineMs === undefined ? undefined : visit.arrivedAtMs + route.deadlineMs;
    const fault = await new Exchange({
      request,
      response,
      upstream,
      path: pathOf(request),
      headers: () => this.headers(request, visit, upstream.config.host === 'caller', endsAtMs),
      head: (rawHeaders, status) =>
        responseHeaders(rawHeaders, status, {
          budget: visit.fields,
          exposed: request.headers.origin === undefined ? undefined : exposedFields(this.env.RATELIMIT_HEADERS),
          requestId: visit.trace.requestId,
        }),
      endsAtMs,
      bodyIdleMs: this.rules.current.edge.listener.bodyIdleMs,
      onFault,
      onRetry: () => {
        this.metrics.retry(name);
      },
      upgrade,
    }).run();
    if (fault !== undefined) throw faultAnswer(fault, name);
  }

  /** Fields of a request or an upgrade for its upstream. */
  headers(request: IncomingMessage, visit: Visit, keepHost: boolean, endsAtMs: number | undefined): string[] {
    const { tenant, user } = visit.decision.subject;
    return requestHeaders(request.rawHeaders, request.headers.connection, {
      apiKeyHeader: this.rules.current.edge.identity.apiKeys?.header,
      dropAuthorization: visit.dropAuthorization,
      keepHost,
      hop: this.hop(request, visit.trustedPeer),
      trace: visit.trace,
      identity: { tenant, user, tier: visit.tier },
      deadlineMs: endsAtMs === undefined ? undefined : endsAtMs - performance.now(),
    });
  }

  private noteFault(upstream: string, requestId: string, fault: UpstreamFault, error: Error): void {
    this.metrics.fault(upstream, fault.error);
    this.faults.note({ upstream, error: fault.error }, { requestId });
    if (fault.error === 'proxy_internal_error') this.logger.error(error.stack ?? error.message);
  }

  private hop({ socket, headers, httpVersion }: IncomingMessage, trustedPeer: boolean): Hop {
    const host = headers.host ?? (headers[':authority'] as string | undefined);
    const proto = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
    return { peerAddress: socket.remoteAddress, trustedPeer, proto, version: httpVersion, host, edge: this.rules.current.edge.name };
  }
}

/** Path and query as they were matched. */
export function pathOf(request: IncomingMessage): string {
  const target = targetOf(request);
  if ('refused' in target) throw new Error('a refused target cannot be forwarded');
  return target.path + target.query;
}
