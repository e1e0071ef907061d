import type { RedisOptions } from 'ioredis';
import { DeadlineQueue, monotonicUs } from './deadline-queue.js';
import { LoopLag } from './loop-lag.js';
import { RedisClient, type RedisClientOptions } from './redis-client.js';
import { ClusterClient } from './cluster-client.js';
import { RedisNode, type NodeOptions } from './redis-node.js';
import { parseRedisUrl, type HostAndPort, type RedisTarget } from './redis-target.js';
import type { Script } from './script.js';

/** Returns at once; it connects by itself. @throws Error where the URL is none */
export function connectRedis(options: RedisClientOptions): RedisClient {
  const target = parseRedisUrl(options.url);
  if ('problem' in target) throw new Error(`REDIS_URL ${target.problem}`);
  const lag = new LoopLag();
  const deadlines = new DeadlineQueue(options.deadlineMs, lag, () => options.onCall?.('late'));
  const nodeOptions = (name: string, connection: NodeOptions['connection']): NodeOptions => ({
    ...options,
    name,
    connection,
    deadlines,
    lag,
  });
  const access: RedisOptions = {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls ? { tls: {} } : {}),
  };
  if (target.kind === 'cluster') {
    const open = (at: HostAndPort): RedisNode => new RedisNode(nodeOptions(`${at.host}:${at.port}`, { ...access, ...at }));
    return new ClusterClient(target.nodes, open, options.onCall);
  }
  return new OneServer(new RedisNode(nodeOptions('redis', { ...access, ...placeOf(target) })), options.onCall);
}

function placeOf(target: Exclude<RedisTarget, { kind: 'cluster' }>): RedisOptions {
  const { db } = target;
  if (target.kind === 'single') return { ...target.nodes[0], db };
  return {
    sentinels: [...target.nodes],
    name: target.name,
    db,
    enableTLSForSentinelMode: target.tls,
    sentinelRetryStrategy: (attempt) => Math.min(50 * attempt, 500),
    // A master that was demoted says so, and keeps its connections: only a new look-up finds the one that took over.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  };
}

/** One server, or the one that Sentinels name. */
class OneServer extends RedisClient {
  constructor(
    private readonly node: RedisNode,
    onCall: RedisClientOptions['onCall'],
  ) {
    super(onCall);
  }

  get connected(): boolean {
    return this.node.connected;
  }

  command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.node.command(name, args);
  }

  slotOf(): number {
    return 0;
  }

  close(): Promise<void> {
    return this.node.close();
  }
  protected ask(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<readonly number[]> {
    return this.node.run(script, keys, args, monotonicUs());
  }
}
