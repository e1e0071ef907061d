import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { EdgeRules } from '../edge/edge-rules.js';
import { ProxyMetrics } from '../telemetry/proxy-metrics.js';
import { Upstream } from './upstream.js';

/** The upstreams of the edge document. */
@Injectable()
export class Upstreams implements OnApplicationShutdown {
  private readonly logger = new Logger('Upstream');
  private readonly upstreams: ReadonlyMap<string, Upstream>;

  /** @throws EnvError where a file that an upstream's TLS names cannot be used */
  constructor(rules: EdgeRules, metrics: ProxyMetrics) {
    this.upstreams = new Map(
      [...rules.current.edge.upstreams].map(([name, config]) => {
        const onHealth = (url: string, healthy: boolean): void => {
          metrics.health(name, config.urls.indexOf(url), healthy);
          if (healthy) this.logger.log('an address is back', { upstream: name, url });
          else this.logger.warn('an address is taken out until it accepts connections', { upstream: name, url });
        };
        config.urls.forEach((_url, i) => {
          metrics.health(name, i, true);
        });
        return [name, new Upstream(config, onHealth)];
      }),
    );
  }

  get(name: string): Upstream {
    const upstream = this.upstreams.get(name);
    if (upstream === undefined) throw new Error(`no upstream is called ${name}`);
    return upstream;
  }

  /** After the last response. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.upstreams.values()].map((upstream) => upstream.close()));
  }
}
