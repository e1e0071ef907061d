import { freePort } from '../free-port.js';
import { waitFor } from '../wait-for.js';
import { mustBeOk, ownerOf, viewsOf } from './cluster-view.js';
import { redisNode, running, startTogether, type RedisNode } from './redis-node.js';
import { startSlotMove, type SlotMove } from './slot-move.js';
import { startRedisPeer } from './start-redis.js';

export interface StartRedisClusterOptions {
  /** 3 by default, which is the fewest that can fail over. */
  readonly masters?: number;
  /** 0 by default: then the slots of a killed master are gone. */
  readonly replicasPerMaster?: number;
  /** After how long without an answer a node counts as down; 2000 by default. */
  readonly nodeTimeoutMs?: number;
  /** More arguments for every redis-server, e.g. `['--cluster-require-full-coverage', 'no']`. */
  readonly args?: readonly string[];
}

export interface RedisClusterNode extends RedisNode {
  /** As CLUSTER MYID. */
  readonly id: string;
}

/** A Redis Cluster of one's own, empty, on loopback; it ends with this process, whatever happens. */
export interface RedisCluster {
  /** First those that start as masters, in the order of their slots, then the first replica of each, and so on. */
  readonly nodes: readonly RedisClusterNode[];
  readonly ports: readonly number[];
  /** `redis+cluster://127.0.0.1:PORT,127.0.0.1:PORT…`, all nodes. */
  readonly url: string;
  slotOf(key: string): Promise<number>;
  /** Who has the key's slot as far as the running nodes know; it may be paused or killed itself. @throws Error if nobody has it */
  masterOf(key: string): Promise<RedisClusterNode>;
  /**
   * Waits until the running nodes serve all slots, agree on them, and replicas have caught up: after `kill` or `pause` of a master
   * that is the end of the failover.
   * @throws Error after 15 s, with what was missing as its cause
   */
  waitUntilOk(): Promise<void>;
  /** Moves a slot and its keys under load, from whoever has it. */
  moveSlot(slot: number, to: RedisClusterNode): Promise<void>;
  /** The same by steps, to act while the slot is half-way. */
  beginMove(slot: number, to: RedisClusterNode): Promise<SlotMove<RedisClusterNode>>;
  /** Kills all nodes. Calling it again does nothing. */
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const PATIENCE_MS = 15_000;

/**
 * Starts and forms a cluster, and waits until it serves: 2 s at least, as a cluster does not serve earlier.
 * @throws NoRedisError where there is no redis-server and none to be had; Error if it does not come up
 */
export async function startRedisCluster(options: StartRedisClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicasPerMaster = 0, nodeTimeoutMs = 2000, args = [] } = options;
  const more = ['--cluster-node-timeout', String(nodeTimeoutMs), ...args];
  const busPorts = new Map<number, string>();
  const servers = await startTogether(masters * (1 + replicasPerMaster), async () => {
    let busPort = '';
    const server = await startRedisPeer({
      args: async () => {
        busPort = String(await freePort());
        return ['--cluster-enabled', 'yes', '--cluster-port', busPort, ...STEADY, ...more];
      },
    });
    busPorts.set(server.port, busPort);
    return server;
  });
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const nodes = await Promise.all(
      servers.map(async (server) => Object.assign(redisNode(server), { id: String(await server.command('CLUSTER', 'MYID')) })),
    );
    await introduce(nodes, busPorts);
    await assignRoles(nodes, masters);
    const cluster = clusterOf(nodes);
    await cluster.waitUntilOk();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Replicas stay with their master, which stays one without slots too; the first copy of the data does not wait for company. */
const STEADY = ['--cluster-allow-replica-migration', 'no', '--repl-diskless-sync-delay', '0'];

/** Everybody meets everybody: by hearsay it would take seconds. */
async function introduce(nodes: readonly RedisClusterNode[], busPorts: ReadonlyMap<number, string>): Promise<void> {
  await Promise.all(nodes.map((node, i) => node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))));
  for (const [i, node] of nodes.entries()) {
    const others = nodes.slice(i + 1);
    await Promise.all(others.map(({ port }) => node.command('CLUSTER', 'MEET', '127.0.0.1', String(port), busPorts.get(port) ?? '')));
  }
  const acquainted = async () => {
    const views = await viewsOf(nodes);
    return views.every((view) => nodes.every(({ id }) => view.some((member) => member.id === id && !member.flags.includes('handshake'))));
  };
  await waitFor(acquainted, { what: 'all nodes of the cluster know each other', timeoutMs: PATIENCE_MS, intervalMs: 25 });
}

async function assignRoles(nodes: readonly RedisClusterNode[], masters: number): Promise<void> {
  const firstSlot = (master: number) => Math.round((master * SLOTS) / masters);
  await Promise.all(
    nodes.map((node, i) => {
      const range = [String(firstSlot(i)), String(firstSlot(i + 1) - 1)];
      if (i < masters) return node.command('CLUSTER', 'ADDSLOTSRANGE', ...range);
      return node.command('CLUSTER', 'REPLICATE', nodes[i % masters]?.id ?? '');
    }),
  );
}

function clusterOf(nodes: readonly RedisClusterNode[]): RedisCluster {
  const ports = nodes.map(({ port }) => port);
  const slotOf = async (key: string) => Number(await running(nodes)[0]?.command('CLUSTER', 'KEYSLOT', key));
  const masterOfSlot = async (slot: number) => {
    const id = ownerOf(slot, await viewsOf(nodes));
    const owner = nodes.find((node) => node.id === id);
    if (owner === undefined) throw new Error(`nobody has slot ${slot}`);
    return owner;
  };
  const beginMove = async (slot: number, to: RedisClusterNode) => startSlotMove(slot, { from: await masterOfSlot(slot), to, nodes });
  return {
    nodes,
    ports,
    url: `redis+cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    slotOf,
    masterOf: async (key) => masterOfSlot(await slotOf(key)),
    waitUntilOk: async () => {
      const ok = () => mustBeOk(nodes).then(() => true);
      await waitFor(ok, { what: 'the cluster is ok', timeoutMs: PATIENCE_MS, intervalMs: 50 });
    },
    beginMove,
    moveSlot: async (slot, to) => (await beginMove(slot, to)).finish(),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.kill()));
    },
  };
}
