import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import type { Criticality } from '#libs/rules';
import type { ProxyError } from '../answers/proxy-status.js';
import { DecisionMetrics } from './decision-metrics.js';

/** Metrics of the listener and of forwarding. Label values come from the edge document and from fixed lists. */
@Injectable()
export class ProxyMetrics {
  private readonly inFlight: Readonly<Record<Criticality, Gauge.Internal<'criticality'>>>;
  private readonly upgrades: Gauge;
  private readonly faults: Counter<'upstream' | 'error'>;
  private readonly retries: Counter<'upstream'>;
  private readonly healthy: Gauge<'upstream' | 'address'>;

  constructor({ registry }: DecisionMetrics) {
    const registers = [registry];
    const inFlight = new Gauge({
      name: 'esclusa_in_flight',
      help: 'Requests and upgraded connections being forwarded, by criticality.',
      labelNames: ['criticality'],
      registers,
    });
    // Bound once: each request comes here twice.
    this.inFlight = {
      'critical-plus': inFlight.labels('critical-plus'),
      critical: inFlight.labels('critical'),
      'sheddable-plus': inFlight.labels('sheddable-plus'),
      sheddable: inFlight.labels('sheddable'),
    };
    this.upgrades = new Gauge({ name: 'esclusa_upgraded_connections', help: 'Upgraded connections (WebSocket) that are open.', registers });
    this.faults = new Counter({
      name: 'esclusa_upstream_faults_total',
      help: 'Calls that got no whole answer, by upstream and Proxy-Status error; retried ones too.',
      labelNames: ['upstream', 'error'],
      registers,
    });
    this.retries = new Counter({
      name: 'esclusa_upstream_retries_total',
      help: 'Further attempts of requests whose first one failed.',
      labelNames: ['upstream'],
      registers,
    });
    this.healthy = new Gauge({
      name: 'esclusa_upstream_healthy',
      help: '1 while an address is used, 0 while it is taken out; addresses by their place in the edge document, from 0.',
      labelNames: ['upstream', 'address'],
      registers,
    });
  }

  forwarding(criticality: Criticality, change: 1 | -1): void {
    this.inFlight[criticality].inc(change);
  }

  upgraded(change: 1 | -1): void {
    this.upgrades.inc(change);
  }

  fault(upstream: string, error: ProxyError): void {
    this.faults.labels(upstream, error).inc();
  }

  retry(upstream: string): void {
    this.retries.labels(upstream).inc();
  }

  health(upstream: string, address: number, healthy: boolean): void {
    this.healthy.labels(upstream, String(address)).set(healthy ? 1 : 0);
  }
}
