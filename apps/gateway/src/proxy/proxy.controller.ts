import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { visitOf } from '../admission/visit.js';
import { BuiltIn } from '../edge/built-in.decorator.js';
import { ProxyMetrics } from '../telemetry/proxy-metrics.js';
import { Forwarder } from './forwarder.js';

/** Everything that no controller of the edge's own takes: admitted by the guard, then forwarded. */
@BuiltIn('proxy')
@Controller()
export class ProxyController {
  constructor(
    private readonly forwarder: Forwarder,
    private readonly metrics: ProxyMetrics,
  ) {}

  @All('*')
  async forward(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const visit = visitOf(request.raw);
    if (visit === undefined) throw new Error('a request reached the proxy without admission');
    const { criticality } = visit.decision.route;
    this.metrics.forwarding(criticality, 1);
    try {
      await this.forwarder.forward(request.raw, reply.raw, visit, { onAnswer: () => void reply.hijack() });
    } finally {
      this.metrics.forwarding(criticality, -1);
    }
  }
}
