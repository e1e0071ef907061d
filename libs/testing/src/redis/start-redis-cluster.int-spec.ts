import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { startRedisCluster, type RedisCluster } from './start-redis-cluster.js';

describe('startRedisCluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster({ replicasPerMaster: 1, nodeTimeoutMs: 1000 });
  });
  afterAll(() => cluster.stop());

  it('starts masters that share the slots, and their replicas', async () => {
    expect(cluster.nodes.map(({ port }) => port)).toEqual(cluster.ports);
    expect(cluster.url).toBe(`redis+cluster://${cluster.ports.map((port) => `127.0.0.1:${port}`).join(',')}`);
    const roles = await Promise.all(cluster.nodes.map((node) => node.command('ROLE')));
    expect(roles.map((role) => (role as unknown[])[0])).toEqual(['master', 'master', 'master', 'slave', 'slave', 'slave']);
    const [first, last] = [await cluster.masterOf('{06S}'), await cluster.masterOf('b')];
    expect([await cluster.slotOf('{06S}'), await cluster.slotOf('b')]).toEqual([0, 3300]);
    expect([first, last]).toEqual([cluster.nodes[0], cluster.nodes[0]]);
  });

  it('serves a client that follows redirections', async () => {
    const client = new Cluster([{ host: '127.0.0.1', port: cluster.ports[0]! }]);
    const keys = Array.from({ length: 30 }, (_, i) => `served ${i}`);
    await Promise.all(keys.map((key) => client.set(key, key)));
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys);
    client.disconnect();
  });

  it('names the master of a key; others answer MOVED', async () => {
    const master = await cluster.masterOf('moved');
    const other = cluster.nodes.find((node) => node !== master)!;
    await expect(other.command('GET', 'moved')).rejects.toThrow(`MOVED ${await cluster.slotOf('moved')} 127.0.0.1:${master.port}`);
    expect(await master.command('GET', 'moved')).toBeNull();
  });

  it('moves a slot with its keys, and shows it half-way', async () => {
    const [slot, from] = [await cluster.slotOf('{half}'), await cluster.masterOf('{half}')];
    const to = cluster.nodes.slice(0, 3).find((node) => node !== from)!;
    for (const key of ['{half}1', '{half}2', '{half}3']) await from.command('SET', key, 'kept');

    const move = await cluster.beginMove(slot, to);
    await expect(from.command('GET', '{half}new')).rejects.toThrow(`ASK ${slot} 127.0.0.1:${to.port}`);
    expect(await move.moveKeys(1)).toBe(1);
    await expect(from.command('MGET', '{half}1', '{half}2', '{half}3')).rejects.toThrow(/TRYAGAIN|ASK/);
    await expect(to.command('SET', '{half}new', '1')).rejects.toThrow('MOVED');
    expect(await cluster.masterOf('{half}')).toBe(from);
    await move.finish();

    expect(await cluster.masterOf('{half}')).toBe(to);
    expect(await to.command('MGET', '{half}1', '{half}2', '{half}3')).toEqual(['kept', 'kept', 'kept']);
    await expect(from.command('GET', '{half}1')).rejects.toThrow('MOVED');
    await cluster.moveSlot(slot, from);
    expect(await from.command('GET', '{half}3')).toBe('kept');
  });

  it('fails over when a master freezes, which comes back as a replica, and when one is killed', async () => {
    const first = await cluster.masterOf('b');
    await first.command('SET', 'b', 'kept');
    expect(await first.command('WAIT', '1', '1000')).toBe(1);
    first.pause();
    await cluster.waitUntilOk();
    const second = await cluster.masterOf('b');
    expect(second).toBe(cluster.nodes[3]);
    first.resume();
    await cluster.waitUntilOk();
    expect(((await first.command('ROLE')) as unknown[]).slice(0, 3)).toEqual(['slave', '127.0.0.1', second.port]);

    await second.kill();
    expect([first.state, second.state]).toEqual(['running', 'killed']);
    await cluster.waitUntilOk();
    expect(await cluster.masterOf('b')).toBe(first);
    expect(await first.command('GET', 'b')).toBe('kept');
  });
});
