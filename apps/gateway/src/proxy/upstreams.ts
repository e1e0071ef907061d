import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'undici';
import { EdgeRules } from '../edge/edge-rules.js';

/** Sockets to one upstream; further requests wait for a free one. */
const MAX_CONNECTIONS = 256;

/** Keep-alive connection pools, one per upstream of the edge document, opened on first use. */
@Injectable()
export class Upstreams implements OnApplicationShutdown {
  private readonly pools = new Map<string, Pool>();

  constructor(private readonly rules: EdgeRules) {}

  pool(name: string): Pool {
    let pool = this.pools.get(name);
    if (pool === undefined) {
      pool = this.open(name);
      this.pools.set(name, pool);
    }
    return pool;
  }

  private open(name: string): Pool {
    const upstream = this.rules.current.edge.upstreams.get(name);
    if (upstream === undefined) throw new Error(`no upstream is called ${name}`);
    const { connectMs, headersMs, idleMs } = upstream.timeouts;
    return new Pool(upstream.url, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      connect: { timeout: connectMs },
      headersTimeout: headersMs,
      bodyTimeout: idleMs,
    });
  }

  /** After the last response. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.close()));
  }
}
