import type { Pool } from 'undici';
import type { Upstream as UpstreamConfig } from '#libs/rules';
import { tlsFiles } from '../edge/tls-files.js';
import { connectorFor } from './connector.js';
import { RetryBudget } from './retry-budget.js';
import { UpstreamAddress } from './upstream-address.js';
import { UpstreamFault } from './upstream-faults.js';

/** One upstream: its addresses, used in turn as far as they are healthy, and what may be retried. */
export class Upstream {
  readonly budget: RetryBudget;
  private readonly addresses: readonly UpstreamAddress[];
  private next = 0;

  /** @throws EnvError where a file that its TLS names cannot be used */
  constructor(
    readonly config: UpstreamConfig,
    onHealth: (url: string, healthy: boolean) => void,
  ) {
    this.budget = new RetryBudget(config.retries.budget);
    const { connections, timeouts, tls } = config;
    const pool: Pool.Options = {
      connections,
      pipelining: 1,
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.idleMs,
      connect: connectorFor(timeouts.connectMs, tlsFiles(tls, `upstreams.${config.name}.tls`), tls.serverName),
    };
    this.addresses = config.urls.map(
      (url) =>
        new UpstreamAddress({
          url,
          pool,
          connectMs: timeouts.connectMs,
          capacity: connections + config.queue,
          hasSpare: () => this.addresses.some((address) => address.healthy && address.url !== url),
          onHealth: (healthy) => {
            onHealth(url, healthy);
          },
        }),
    );
  }

  /** The next address to try, another than `last` where there is a choice; a fault where there is none. */
  pick(last: UpstreamAddress | undefined): UpstreamAddress | UpstreamFault {
    const { length } = this.addresses;
    let spare: UpstreamAddress | undefined;
    let healthy = 0;
    for (let i = 0; i < length; i += 1) {
      const address = this.addresses[(this.next + i) % length] as UpstreamAddress;
      if (!address.healthy) continue;
      healthy += 1;
      if (address.full) continue;
      if (address === last) {
        spare = address;
        continue;
      }
      this.next = (this.next + i + 1) % length;
      return address;
    }
    return spare ?? new UpstreamFault(healthy > 0 ? 'connection_limit_reached' : 'destination_unavailable', true);
  }

  /** Whether there is an address to try now. */
  get available(): boolean {
    return this.addresses.some((address) => address.healthy && !address.full);
  }

  async close(): Promise<void> {
    await Promise.all(this.addresses.map((address) => address.close()));
  }
}
