import { readFileSync } from 'node:fs';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Pool } from 'undici';
import type { Upstream as UpstreamConfig } from '#libs/rules';
import { RetryBudget } from './retry-budget.js';
import { UpstreamAddress } from './upstream-address.js';
import { UpstreamFault } from './upstream-faults.js';

/** One upstream: its addresses, used in turn as far as they are healthy, and what may be retried. */
export class Upstream {
  readonly budget: RetryBudget;
  private readonly addresses: readonly UpstreamAddress[];
  private next = 0;
  /** Host names being resolved: a connection that does not come in time then waits for DNS. */
  private resolving = 0;

  /** @throws Error where a certificate or key file cannot be read */
  constructor(
    readonly config: UpstreamConfig,
    onHealth: (url: string, healthy: boolean) => void,
  ) {
    this.budget = new RetryBudget(config.retries.budget);
    const pool = this.poolOptions();
    this.addresses = config.urls.map(
      (url) =>
        new UpstreamAddress({
          url,
          pool,
          connectMs: config.timeouts.connectMs,
          capacity: config.connections + config.queue,
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

  /** A connection that did not come in time, by what it waited for. */
  explain(fault: UpstreamFault): UpstreamFault {
    return fault.error === 'connection_timeout' && this.resolving > 0 ? new UpstreamFault('dns_timeout', true) : fault;
  }

  async close(): Promise<void> {
    await Promise.all(this.addresses.map((address) => address.close()));
  }

  private poolOptions(): Pool.Options {
    const { connections, timeouts, tls } = this.config;
    return {
      connections,
      pipelining: 1,
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.idleMs,
      connect: {
        timeout: timeouts.connectMs,
        lookup: this.lookup,
        ...(tls.caFile !== undefined && { ca: readFileSync(tls.caFile) }),
        ...(tls.certFile !== undefined && { cert: readFileSync(tls.certFile) }),
        ...(tls.keyFile !== undefined && { key: readFileSync(tls.keyFile) }),
        ...(tls.serverName !== undefined && { servername: tls.serverName }),
      },
    };
  }

  private readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.resolving += 1;
    lookup(hostname, options, (error, address, family) => {
      this.resolving -= 1;
      callback(error, address, family);
    });
  };
}
