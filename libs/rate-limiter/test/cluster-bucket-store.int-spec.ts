import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { RedisBucketStore, StoreFault, bucketScripts, type Check } from '#libs/rate-limiter';
import { connectRedis, type RedisClient } from '#libs/redis';
import { startRedisCluster, waitFor, type RedisCluster } from '#libs/testing';
import { tb } from './bucket-store.contract.js';

describe('in a Cluster', () => {
  let cluster: RedisCluster;
  let client: RedisClient;
  let store: RedisBucketStore;
  beforeAll(async () => {
    // Slots whose master is away are no reason to refuse the others.
    cluster = await startRedisCluster({ args: ['--cluster-require-full-coverage', 'no'] });
    client = connectRedis({ url: cluster.url, deadlineMs: 1000, scripts: bucketScripts, connectionName: 'store' });
    store = new RedisBucketStore(client);
    await waitFor(() => client.connected, { timeoutMs: 5000, what: 'the Cluster' });
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  const limit = tb(10, 1, 3600);
  const check = (key: string, more: Partial<Check> = {}): Check => ({ key, limit, cost: 1, shadow: false, ...more });
  /** Keys on three nodes. */
  const spread = async (): Promise<readonly string[]> => {
    const found = new Map<number, string>();
    while (found.size < 3) {
      const key = `rl1:{${randomUUID()}}`;
      found.set((await cluster.masterOf(key)).port, key);
    }
    return [...found.values()];
  };
  const tokens = async (key: string): Promise<number> =>
    Math.floor(Number((await client.command('HGET', key, 'tokens')) ?? 10_000_000) / 1e6);

  it('RED-03: 10,000 answers on 100 random keys in parallel are each for their own key, without an error', async () => {
    const keys = Array.from({ length: 100 }, (_, i) => ({ key: `rl1:{${randomUUID()}}:k`, limit: tb(1000 + i, 1, 3600) }));
    for (let round = 1; round <= 100; round += 1) {
      const replies = await Promise.all(keys.map((one) => store.admit([check(one.key, { limit: one.limit })])));
      expect(replies.map(({ verdicts }) => verdicts[0]?.remaining)).toEqual(keys.map((_, i) => 1000 + i - round));
    }
  });

  it('checks on several nodes are charged by all or by none; what was charged beside a refusal is given back', async () => {
    const [a = '', b = '', c = ''] = await spread();
    expect(await store.admit([check(a), check(b), check(c, { cost: 4 })])).toMatchObject({
      admitted: true,
      verdicts: [{ remaining: 9 }, { remaining: 9 }, { remaining: 6 }],
    });
    const refused = await store.admit([check(a), check(b, { shadow: true }), check(c, { cost: 7 })]);
    expect(refused).toMatchObject({
      admitted: false,
      verdicts: [
        { verdict: 'admitted', remaining: 9 },
        { verdict: 'admitted', remaining: 9 },
        { verdict: 'refused', remaining: 6 },
      ],
    });
    await waitFor(async () => (await tokens(a)) === 9 && (await tokens(b)) === 9, { what: 'what was given back' });
    expect(await tokens(c)).toBe(6);
  });

  it('a limit of N over two nodes admits N at most at one instant, and all of it once the rest is given back', async () => {
    const [a = '', b = ''] = await spread();
    const replies = await Promise.all(Array.from({ length: 60 }, () => store.admit([check(a), check(b, { limit: tb(100, 1, 3600) })])));
    const admitted = replies.filter((reply) => reply.admitted).length;
    expect(admitted).toBe(10);
    await waitFor(async () => (await tokens(b)) === 90, { what: 'what was given back' });
  });

  it('a slot on its way to another node is charged once, by whoever has the key', async () => {
    const [key = ''] = await spread();
    const there = cluster.nodes.find((node) => node.state === 'running')!;
    const from = await cluster.masterOf(key);
    const to = cluster.nodes.find((node) => node.port !== from.port && node !== there) ?? there;
    await store.admit([check(key)]);
    const fresh = `${key}:fresh`;
    const move = await cluster.beginMove(await cluster.slotOf(key), to);
    // The old key is still at its source, the fresh one can only be made at the target (ASK).
    expect(await store.admit([check(key)])).toMatchObject({ verdicts: [{ remaining: 8 }] });
    expect(await store.admit([check(fresh)])).toMatchObject({ verdicts: [{ remaining: 9 }] });
    // Keys of one slot on two nodes cannot be asked together: TRYAGAIN is a fault, and nothing is taken.
    expect(await store.admit([check(key), check(fresh)]).catch((error: unknown) => error)).toMatchObject({
      kind: 'reply',
      code: 'TRYAGAIN',
    });
    await move.moveKeys();
    expect(await store.admit([check(key), check(fresh)])).toMatchObject({ verdicts: [{ remaining: 7 }, { remaining: 8 }] });
    await move.finish();
    expect(await store.admit([check(key), check(fresh)])).toMatchObject({ verdicts: [{ remaining: 6 }, { remaining: 7 }] });
    expect(client.connected).toBe(true);
  });

  it('a node that is away takes its own slots with it and no others; a refusal elsewhere stands', async () => {
    const [a = '', b = '', c = ''] = await spread();
    await store.admit([check(b, { cost: 10 })]);
    const away = await cluster.masterOf(a);
    const fast = connectRedis({ url: cluster.url, deadlineMs: 50, scripts: bucketScripts, connectionName: 'fast' });
    await waitFor(() => fast.connected, { timeoutMs: 5000, what: 'the Cluster' });
    const beside = new RedisBucketStore(fast);
    away.pause();
    const fault = await beside.admit([check(a)]).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(StoreFault);
    expect(await beside.admit([check(c)])).toMatchObject({ admitted: true, verdicts: [{ remaining: 9 }] });
    expect(await beside.admit([check(a), check(b)])).toMatchObject({
      admitted: false,
      verdicts: [{ verdict: 'unknown' }, { verdict: 'refused' }],
    });
    expect(await beside.admit([check(a), check(c)]).catch((error: unknown) => error)).toMatchObject({ kind: expect.anything() as unknown });
    await waitFor(async () => (await tokens(c)) === 9, { what: 'what was given back' });
    away.resume();
    await cluster.waitUntilOk();
    await waitFor(
      () =>
        beside.admit([check(a)]).then(
          (reply) => reply.admitted,
          () => false,
        ),
      { timeoutMs: 5000, what: 'recovery' },
    );
    await fast.close();
  });
});
