import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startRedisSentinel, type RedisSentinel } from './start-redis-sentinel.js';

describe('startRedisSentinel', () => {
  let set: RedisSentinel;
  beforeAll(async () => {
    set = await startRedisSentinel();
  });
  afterAll(() => set.stop());

  it('starts a master, its replica and three sentinels that know both', async () => {
    expect(set.url).toBe(`redis+sentinel://${set.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main`);
    expect([set.servers.length, set.sentinels.length]).toEqual([2, 3]);
    const master = await set.master();
    expect(await master.command('ROLE')).toMatchObject([
      'master',
      expect.any(Number),
      [['127.0.0.1', expect.any(String), expect.any(String)]],
    ]);
    expect(await set.sentinels[1]!.command('SENTINEL', 'CKQUORUM', 'main')).toMatch(/^OK 3 usable/);
  });

  it('leads a client to the master', async () => {
    const sentinels = set.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
    const client = new Redis({ sentinels, name: 'main' });
    await client.set('led', 'here');
    expect(await (await set.master()).command('GET', 'led')).toBe('here');
    client.disconnect();
  });

  it('fails over on demand', async () => {
    const before = await set.master();
    await set.failover();
    const after = await set.master();
    expect(after.port).not.toBe(before.port);
    await expect(before.command('SET', 'k', '1')).rejects.toThrow('READONLY');
  });

  it('fails over when the master freezes, and makes it a replica once it is back', async () => {
    const frozen = await set.master();
    frozen.pause();
    await set.waitUntilOk();
    expect(await set.master()).not.toBe(frozen);
    frozen.resume();
    await set.waitUntilOk();
    await expect(frozen.command('SET', 'k', '1')).rejects.toThrow('READONLY');
  });

  it('fails over when the master is killed', async () => {
    const master = await set.master();
    await master.kill();
    await set.waitUntilOk();
    const heir = await set.master();
    expect(heir.port).not.toBe(master.port);
    expect(await heir.command('SET', 'k', '1')).toBe('OK');
  });
});
