import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { visitOf } from '../admission/visit.js';
import { Refusal } from '../answers/problem.js';
import { BuiltIn } from '../edge/built-in.decorator.js';
import { DecisionMetrics } from '../telemetry/decision-metrics.js';
import { Forwarder } from './forwarder.js';
import { upstreamProblem } from './upstream-error.js';

/** Everything that no controller of the edge's own takes: admitted by the guard, then forwarded. */
@BuiltIn('proxy')
@Controller()
export class ProxyController {
  constructor(
    private readonly forwarder: Forwarder,
    private readonly metrics: DecisionMetrics,
  ) {}

  @All('*')
  async forward(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const visit = visitOf(request);
    if (visit === undefined) throw new Error('a request reached the proxy without admission');
    const { criticality } = visit.decision.route;
    this.metrics.forwarding(criticality, 1);
    try {
      const fault = await this.forwarder.forward(request, reply, visit);
      if (fault !== undefined) throw new Refusal(upstreamProblem(fault));
    } finally {
      this.metrics.forwarding(criticality, -1);
    }
  }
}
