import { Injectable, Logger } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ArrivalReader } from '../admission/arrival.js';
import { Gate } from '../admission/gate.js';
import { Refusal, plainProblem } from '../answers/problem.js';
import { ProblemFilter } from '../answers/problem.filter.js';
import { ProxyMetrics } from '../telemetry/proxy-metrics.js';
import type { UpgradeWish } from './exchange.js';
import { Forwarder } from './forwarder.js';

/**
 * Everything that no controller of the edge's own takes comes in here: admitted at the gate, as the guard does it for controllers, then forwarded.
 * It passes by Fastify and Nest, which have nothing to add to it (ADR 8).
 */
@Injectable()
export class Entrance {
  private readonly logger = new Logger('Entrance');

  constructor(
    private readonly arrivals: ArrivalReader,
    private readonly gate: Gate,
    private readonly forwarder: Forwarder,
    private readonly filter: ProblemFilter,
    private readonly metrics: ProxyMetrics,
  ) {}

  /**
   * Sees to it that the request gets its answer, whatever becomes of it. Its target has been read.
   * @param upgrade the other protocol that it asks for; `refused` where it cannot have that
   */
  take(request: IncomingMessage, response: ServerResponse, upgrade?: UpgradeWish | 'refused'): void {
    this.admit(request, response, upgrade)
      .catch((thrown: unknown) => {
        this.filter.answer(thrown, request, response);
      })
      .catch((fault: unknown) => {
        // An answer that cannot be written ends its own connection, and nothing else.
        this.logger.error(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
        response.destroy();
      });
  }

  private async admit(request: IncomingMessage, response: ServerResponse, upgrade: UpgradeWish | 'refused' | undefined): Promise<void> {
    const admitted = this.gate.admit(this.arrivals.atProxy(request), request);
    const visit = admitted instanceof Promise ? await admitted : admitted;
    if (upgrade === 'refused') throw new Refusal(plainProblem(400, 'Bad Request', 'This route hands no connections over.'));
    const { criticality } = visit.decision.route;
    this.metrics.forwarding(criticality, 1);
    try {
      await this.forwarder.forward(request, response, visit, upgrade);
    } finally {
      this.metrics.forwarding(criticality, -1);
    }
  }
}
