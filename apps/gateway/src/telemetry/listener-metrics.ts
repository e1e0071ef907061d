import { Counter } from 'prom-client';
import type { BadRequestKind } from '../listener/bad-request.js';
import type { ListenerEvents } from '../listener/edge-listener.js';
import type { DecisionMetrics } from './decision-metrics.js';

/** What ends at the listener, before any decision. */
export class ListenerMetrics implements ListenerEvents {
  private readonly badRequests: Counter<'kind'>;
  private readonly drops: Counter;

  constructor({ registry }: DecisionMetrics) {
    const registers = [registry];
    this.badRequests = new Counter({
      name: 'esclusa_bad_requests_total',
      help: 'Requests refused for how they were sent, by what was wrong; a head that is refused costs no token.',
      labelNames: ['kind'],
      registers,
    });
    this.drops = new Counter({
      name: 'esclusa_dropped_connections_total',
      help: 'Connections closed at once: too many were open.',
      registers,
    });
  }

  badRequest(kind: BadRequestKind): void {
    this.badRequests.labels(kind).inc();
  }

  dropped(): void {
    this.drops.inc();
  }
}
