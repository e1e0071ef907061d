import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, loadScript, type RedisClient } from '#libs/redis';
import { startFaultProxy, startRedisCluster, startRedisSentinel, waitFor } from '#libs/testing';

const script = loadScript('admit-n');
const ARGS = ['tb', 0, 1, 1_000_000, 1, 3600];

describe('failover', () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  const connect = (url: string): RedisClient => {
    const client = connectRedis({ url, deadlineMs: 100, scripts: [script], connectionName: 'failover' });
    open.push(() => client.close());
    return client;
  };
  const connected = async (url: string): Promise<RedisClient> => {
    const client = connect(url);
    await waitFor(() => client.connected, { timeoutMs: 8000, what: 'the connection' });
    return client;
  };
  const works = (client: RedisClient, key: string): Promise<boolean> =>
    client.run(script, [key], ARGS).then(
      () => true,
      () => false,
    );
  /** Asks at a steady pace until an answer follows a failure; resolves to how long answers failed. */
  const outage = async (client: RedisClient, key: string, cause: () => Promise<unknown>, withinMs: number): Promise<number> => {
    const caused = cause();
    let failedAtMs: number | undefined;
    const endsAtMs = performance.now() + withinMs;
    while (performance.now() < endsAtMs) {
      const ok = await works(client, key);
      if (!ok) failedAtMs ??= performance.now();
      else if (failedAtMs !== undefined) {
        await caused;
        return performance.now() - failedAtMs;
      }
      await sleep(5);
    }
    throw new Error(failedAtMs === undefined ? 'nothing failed' : 'it did not recover');
  };

  it('RED-11: a master that is demoted with its connections open says READONLY, and the new one is looked up', async () => {
    const sentinel = await startRedisSentinel();
    open.push(() => sentinel.stop());
    const client = await connected(sentinel.url);
    expect(await works(client, 'a')).toBe(true);
    const before = await sentinel.master();
    await outage(client, 'a', () => sentinel.failover(), 15_000);
    expect((await sentinel.master()).port).not.toBe(before.port);
    // Scripts are there as well: nothing but EVALSHA was counted on.
    expect(await works(client, 'b')).toBe(true);
  }, 30_000);

  it('a master that freezes behind Sentinels is left for the one they choose', async () => {
    const sentinel = await startRedisSentinel();
    open.push(() => sentinel.stop());
    const client = await connected(sentinel.url);
    const master = await sentinel.master();
    await outage(
      client,
      'a',
      async () => {
        master.pause();
        await sentinel.waitUntilOk();
      },
      20_000,
    );
    master.resume();
    // The old master comes back as a replica, and nobody asks it.
    await waitFor(() => works(client, 'a'), { what: 'an answer' });
  }, 40_000);

  it('a Cluster master that is killed: other slots are not affected, its own come back with its replica', async () => {
    const cluster = await startRedisCluster({ replicasPerMaster: 1, nodeTimeoutMs: 1000, args: ['--cluster-require-full-coverage', 'no'] });
    open.push(() => cluster.stop());
    const client = await connected(cluster.url);
    const keys = Array.from({ length: 50 }, (_, i) => `{k${i}}`);
    const masters = new Map(await Promise.all(keys.map(async (key) => [key, (await cluster.masterOf(key)).port] as const)));
    const victim = await cluster.masterOf(keys[0]!);
    const others = keys.filter((key) => masters.get(key) !== victim.port);
    let othersFailed = 0;
    const beside = setInterval(() => {
      for (const key of others.slice(0, 5)) void works(client, key).then((ok) => (othersFailed += ok ? 0 : 1));
    }, 10);
    await outage(client, keys[0]!, () => victim.kill(), 15_000);
    clearInterval(beside);
    expect(othersFailed).toBe(0);
    for (const key of keys) await waitFor(() => works(client, key), { what: 'an answer' });
    await waitFor(() => client.connected, { timeoutMs: 8000, what: 'the dead node to be forgotten or replaced' });
  }, 40_000);

  it('RED-15: a Cluster that is late is waited for; until then calls fail at once', async () => {
    const cluster = await startRedisCluster();
    open.push(() => cluster.stop());
    const doors = await Promise.all(cluster.ports.slice(0, 2).map((port) => startFaultProxy({ port })));
    for (const door of doors) {
      open.push(() => door.close());
      door.refuse();
    }
    const client = connect(`redis+cluster://${doors.map(({ port }) => `127.0.0.1:${port}`).join(',')}`);
    for (let i = 0; i < 20; i += 1) expect(await works(client, `k${i}`)).toBe(false);
    await sleep(2000);
    await Promise.all(doors.map((door) => door.heal()));
    await waitFor(() => client.connected, { timeoutMs: 5000, what: 'the Cluster' });
    for (let i = 0; i < 20; i += 1) expect(await works(client, `k${i}`)).toBe(true);
  }, 20_000);
});
