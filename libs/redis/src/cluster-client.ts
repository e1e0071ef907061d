import keySlot from 'cluster-key-slot';
import { monotonicUs } from './deadline-queue.js';
import { RedisClient, type RedisClientOptions } from './redis-client.js';
import type { RedisNode } from './redis-node.js';
import type { HostAndPort } from './redis-target.js';
import type { Script } from './script.js';
import { StoreFault } from './store-fault.js';

const SLOTS = 16_384;
/** Of one call: to where the slot has gone, and to where it is going. */
const MAX_REDIRECTIONS = 3;
const REFRESH_MS = 5000;
/** Between two refreshes, whatever asks for them. */
const LEAST_REFRESH_MS = 50;

/**
 * A Redis Cluster: which node has which slot, learned from the nodes and from their redirections. Each node has a connection, a clock and a breaker of
 * its own, so what ails one leaves the slots of the others alone (ADR 9). Replicas are connected to, so that one that is promoted is ready, and never asked.
 */
export class ClusterClient extends RedisClient {
  private readonly nodes = new Map<string, RedisNode>();
  private readonly owners = new Array<RedisNode | undefined>(SLOTS).fill(undefined);
  private refreshing = false;
  private refreshedAtMs = -Infinity;
  private dueAtMs = Infinity;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly seeds: readonly HostAndPort[],
    private readonly open: (at: HostAndPort) => RedisNode,
    onCall: RedisClientOptions['onCall'],
  ) {
    super(onCall);
    this.refreshIn(0);
  }

  get connected(): boolean {
    return this.owners.every((owner) => owner?.connected === true);
  }

  command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.route(String(args[0] ?? ''), (node) => node.command(name, args));
  }

  slotOf(key: string): number {
    return keySlot(key);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await Promise.all([...this.nodes.values()].map((node) => node.close()));
  }

  protected ask(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<readonly number[]> {
    return this.route(keys[0] ?? '', (node, startedAtUs, asking) => node.run(script, keys, args, startedAtUs, asking));
  }

  private async route<T>(key: string, ask: (node: RedisNode, startedAtUs: number, asking: boolean) => Promise<T>): Promise<T> {
    const slot = keySlot(key);
    const startedAtUs = monotonicUs();
    let node = this.owners[slot];
    let asking = false;
    for (let redirections = 0; ; redirections += 1) {
      if (node === undefined) throw new StoreFault('connection', `no node is known for slot ${slot}`);
      try {
        return await ask(node, startedAtUs, asking);
      } catch (error) {
        if (!(error instanceof StoreFault)) throw error;
        const redirection = redirectionOf(error, node.name);
        if (redirection === undefined || redirections >= MAX_REDIRECTIONS) {
          if (error.kind === 'connection' || error.code !== undefined) this.refreshIn(LEAST_REFRESH_MS);
          throw error;
        }
        node = this.nodeAt(redirection.to);
        asking = redirection.ask;
        if (!asking) {
          this.owners[slot] = node;
          this.refreshIn(LEAST_REFRESH_MS);
        }
      }
    }
  }

  private nodeAt(at: HostAndPort): RedisNode {
    const name = `${at.host}:${at.port}`;
    let node = this.nodes.get(name);
    if (node === undefined) {
      node = this.open(at);
      this.nodes.set(name, node);
    }
    return node;
  }

  /** Sooner than it was going to, never later: whoever asks often must not put it off. */
  private refreshIn(ms: number): void {
    const nowMs = performance.now();
    const dueAtMs = Math.max(nowMs + ms, this.refreshedAtMs + LEAST_REFRESH_MS);
    if (this.closed || this.refreshing || dueAtMs >= this.dueAtMs) return;
    clearTimeout(this.timer);
    this.dueAtMs = dueAtMs;
    this.timer = setTimeout(() => void this.refresh(), dueAtMs - nowMs).unref();
  }

  /** Asks one node after the other, from a different one each time, until one knows. */
  private async refresh(): Promise<void> {
    this.refreshing = true;
    let known = false;
    const nodes = [...this.nodes.values()].filter((node) => node.connected);
    // All addresses may have changed since they were learned: the names that were given are what is left.
    if (nodes.length === 0) for (const seed of this.seeds) this.nodeAt(seed);
    const start = Math.floor(Math.random() * nodes.length);
    for (const node of [...nodes.slice(start), ...nodes.slice(0, start)]) {
      known = await node.command('CLUSTER', ['SLOTS']).then(
        (reply) => this.learn(reply as ClusterSlots, node.name),
        () => false,
      );
      if (known) break;
    }
    this.refreshing = false;
    this.dueAtMs = Infinity;
    this.refreshedAtMs = performance.now();
    this.refreshIn(known ? REFRESH_MS * (0.75 + Math.random() / 2) : 2 * LEAST_REFRESH_MS);
  }

  /** @returns whether the node knows an owner of every slot; one that was cut off may not */
  private learn(ranges: ClusterSlots, asked: string): boolean {
    const present = new Set<string>();
    let covered = 0;
    for (const [from, to, ...members] of ranges) {
      const [master] = members.map(([host, port]) => this.nodeAt({ host: host || hostOf(asked), port }));
      for (const [host, port] of members) present.add(`${host || hostOf(asked)}:${port}`);
      for (let slot = from; slot <= to; slot += 1) this.owners[slot] = master;
      covered += to - from + 1;
    }
    if (covered < SLOTS) return false;
    for (const [name, node] of this.nodes) {
      if (present.has(name)) continue;
      this.nodes.delete(name);
      void node.close();
    }
    return true;
  }
}

/** As CLUSTER SLOTS replies: ranges with the master first. */
type ClusterSlots = readonly (readonly [from: number, to: number, ...members: (readonly [host: string, port: number, id: string])[]])[];

/** Where a MOVED or ASK points; undefined for other faults. */
function redirectionOf({ code, message }: StoreFault, repliedBy: string): { readonly to: HostAndPort; readonly ask: boolean } | undefined {
  if (code !== 'MOVED' && code !== 'ASK') return undefined;
  const address = message.split(' ')[2] ?? '';
  const colon = address.lastIndexOf(':');
  // A node that does not know its own name leaves it out: the host is the one that was asked.
  return { to: { host: address.slice(0, colon) || hostOf(repliedBy), port: Number(address.slice(colon + 1)) }, ask: code === 'ASK' };
}

function hostOf(name: string): string {
  return name.slice(0, name.lastIndexOf(':'));
}
