import { describe, expect, it } from '@jest/globals';
import { NoRedisError, provideRedis, type RedisMeans } from './redis-program.js';

/** Means that note in `used` what was tried; nothing is to be had unless overridden. */
function means(used: string[], more: Partial<RedisMeans> = {}): RedisMeans {
  return {
    onPath: () => undefined,
    dockerImage: () => {
      used.push('docker');
      return Promise.resolve(undefined);
    },
    noPackagesBecause: () => 'this system has no apt-get',
    installPackage: () => Promise.resolve(void used.push('install')),
    alone: (act) => {
      used.push('lock');
      return act();
    },
    ...more,
  };
}

describe('provideRedis', () => {
  it('takes redis-server from PATH and asks nobody else', async () => {
    const used: string[] = [];
    expect(await provideRedis(means(used, { onPath: () => '/usr/bin/redis-server' }))).toEqual({
      via: 'binary',
      path: '/usr/bin/redis-server',
    });
    expect(used).toEqual([]);
  });

  it('takes Docker where an engine answers, before it installs anything', async () => {
    const used: string[] = [];
    const program = await provideRedis(
      means(used, { dockerImage: () => Promise.resolve('redis:7-alpine'), noPackagesBecause: () => undefined }),
    );
    expect(program).toEqual({ via: 'docker', image: 'redis:7-alpine' });
    expect(used).toEqual(['lock']);
  });

  it('installs the package where there is neither, holding the lock', async () => {
    const used: string[] = [];
    const onPath = () => (used.includes('install') ? '/usr/bin/redis-server' : undefined);
    expect(await provideRedis(means(used, { onPath, noPackagesBecause: () => undefined }))).toEqual({
      via: 'binary',
      path: '/usr/bin/redis-server',
    });
    expect(used).toEqual(['lock', 'docker', 'install']);
  });

  it('does not install again what another process installed while this one waited for the lock', async () => {
    const used: string[] = [];
    const onPath = () => (used.includes('lock') ? '/usr/bin/redis-server' : undefined);
    await provideRedis(means(used, { onPath, noPackagesBecause: () => undefined }));
    expect(used).toEqual(['lock']);
  });

  it('says what to install, and why it could not do so, where nothing works', async () => {
    const failing = provideRedis(means([]));
    await expect(failing).rejects.toThrow(NoRedisError);
    await expect(failing).rejects.toThrow(/apt-get install redis-server[\s\S]*this system has no apt-get/);
  });

  it("passes on the package manager's own words when the installation fails", async () => {
    const installPackage = () => Promise.reject(new Error('E: Unable to locate package redis-server'));
    await expect(provideRedis(means([], { noPackagesBecause: () => undefined, installPackage }))).rejects.toThrow(
      /Unable to locate package/,
    );
  });
});
