import { waitFor } from '../wait-for.js';
import { redisNode, running, startTogether, type RedisNode } from './redis-node.js';
import { masterPorts, mustAgree, SENTINEL_NAME, type SentinelSet } from './sentinel-view.js';
import { startRedisPeer, type RedisServer } from './start-redis.js';

export interface StartRedisSentinelOptions {
  /** 1 by default. */
  readonly replicas?: number;
  /** 3 by default; more than half of them have to agree that the master is down. */
  readonly sentinels?: number;
  /** After how long without an answer a server counts as down; 500 by default. */
  readonly downAfterMs?: number;
  /** More arguments for master and replicas, e.g. `['--min-replicas-to-write', '1']`. */
  readonly args?: readonly string[];
}

/** A master with replicas and the sentinels that watch them, on loopback; all end with this process, whatever happens. */
export interface RedisSentinel {
  /** `redis+sentinel://127.0.0.1:PORT,127.0.0.1:PORT…/main`, all sentinels. */
  readonly url: string;
  /** The first one starts as the master. */
  readonly servers: readonly RedisNode[];
  readonly sentinels: readonly RedisNode[];
  /** Whom the running sentinels name, where they differ the newest; it may be paused or killed itself. */
  master(): Promise<RedisNode>;
  /** Makes a replica the master, which becomes a replica; ends as `waitUntilOk` does. @throws Error if there is no good replica */
  failover(): Promise<void>;
  /**
   * Waits until the running sentinels name the same running master and all other running servers follow it: after `kill` or `pause`
   * of the master that is the end of the failover.
   * @throws Error after 20 s, with what was missing as its cause
   */
  waitUntilOk(): Promise<void>;
  /** Kills all servers and sentinels. Calling it again does nothing. */
  stop(): Promise<void>;
}

const PATIENCE_MS = 20_000;

/** Sentinels look, talk and elect at a pace for networks; a busy test machine must not drive them into TILT, in which they do nothing. */
const PACE = ['INFO-PERIOD', '300', 'PUBLISH-PERIOD', '200', 'ASK-PERIOD', '200', 'TILT-TRIGGER', '15000'];

/**
 * Starts all of them and waits until they know each other.
 * @throws NoRedisError where there is no redis-server and none to be had; Error if they do not come up
 */
export async function startRedisSentinel(options: StartRedisSentinelOptions = {}): Promise<RedisSentinel> {
  const { replicas = 1, sentinels = 3, downAfterMs = 500, args = [] } = options;
  const started: RedisServer[] = [];
  const start = async (count: number, own: readonly string[], config?: string) => {
    const peer = { args: () => Promise.resolve([...own]), ...(config === undefined ? {} : { config }) };
    const servers = await startTogether(count, () => startRedisPeer(peer));
    started.push(...servers);
    return servers.map(redisNode);
  };
  try {
    // The first copy of the data does not wait for company.
    const more = ['--repl-diskless-sync-delay', '0', ...args];
    const masters = await start(1, more);
    const port = String(masters[0]?.port);
    const followers = await start(replicas, ['--replicaof', '127.0.0.1', port, ...more]);
    await waitFor(() => followsAlready(followers), { what: 'the replicas have caught up', timeoutMs: PATIENCE_MS });
    const watching = await start(sentinels, ['--sentinel'], sentinelConfig(port, sentinels, downAfterMs));
    await Promise.all(watching.map((sentinel) => sentinel.command('SENTINEL', 'DEBUG', ...PACE)));
    const set = sentinelOf({ servers: [...masters, ...followers], sentinels: watching });
    await set.waitUntilOk();
    return set;
  } catch (error) {
    await Promise.all(started.map((server) => server.stop()));
    throw error;
  }
}

async function followsAlready(replicas: readonly RedisNode[]): Promise<boolean> {
  const replies = await Promise.all(replicas.map((replica) => replica.command('INFO', 'replication')));
  return replies.every((reply) => String(reply).includes('master_link_status:up'));
}

function sentinelConfig(masterPort: string, sentinels: number, downAfterMs: number): string {
  const quorum = Math.floor(sentinels / 2) + 1;
  return [
    `sentinel monitor ${SENTINEL_NAME} 127.0.0.1 ${masterPort} ${quorum}`,
    `sentinel down-after-milliseconds ${SENTINEL_NAME} ${downAfterMs}`,
    // After a vote without a majority the next one is held twice as late.
    `sentinel failover-timeout ${SENTINEL_NAME} 3000`,
    '',
  ].join('\n');
}

function sentinelOf(set: SentinelSet): RedisSentinel {
  const { servers, sentinels } = set;
  const addresses = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const waitUntilOk = async () => {
    const ok = () => mustAgree(set).then(() => true);
    await waitFor(ok, { what: 'the sentinels agree', timeoutMs: PATIENCE_MS, intervalMs: 50 });
  };
  const master = async () => {
    const [port] = await masterPorts(sentinels);
    const named = servers.find((server) => server.port === port);
    if (named === undefined) throw new Error(`no server has port ${port ?? 'that a sentinel could name'}`);
    return named;
  };
  return {
    url: `redis+sentinel://${addresses}/${SENTINEL_NAME}`,
    servers,
    sentinels,
    master,
    waitUntilOk,
    failover: async () => {
      const before = await master();
      await running(sentinels)[0]?.command('SENTINEL', 'FAILOVER', SENTINEL_NAME);
      const all = async () => !(await masterPorts(sentinels)).includes(before.port);
      await waitFor(all, { what: 'all sentinels name another master', timeoutMs: PATIENCE_MS });
      await waitUntilOk();
    },
    stop: async () => {
      await Promise.all([...sentinels, ...servers].map((node) => node.kill()));
    },
  };
}
