import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { redisCommand } from './redis-command.js';
import { sharedRedisUrl } from './shared-redis.js';
import { startRedis, type RedisServer, type StartRedisOptions } from './start-redis.js';
import { spawnNode } from '../spawn-node.js';
import { waitFor } from '../wait-for.js';
import { within } from '../within.js';

describe('startRedis', () => {
  const started: RedisServer[] = [];
  const start = async (options?: StartRedisOptions) => {
    const server = await startRedis(options);
    started.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(started.splice(0).map((server) => server.stop()));
  });

  it('starts an empty server of its own that answers at once', async () => {
    const server = await start();
    expect(server.url).toBe(`redis://127.0.0.1:${server.port}`);
    expect(await server.command('PING')).toBe('PONG');
    expect(await server.command('DBSIZE')).toBe(0);
    expect(await server.command('CONFIG', 'GET', 'save')).toEqual(['save', '']);
  });

  it('starts several side by side, each with its own data', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    await one.command('SET', 'a', '1');
    expect(await two.command('GET', 'a')).toBeNull();
  });

  it('takes more arguments and allows DEBUG', async () => {
    const server = await start({ args: ['--maxmemory', '50mb'] });
    expect(await server.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '52428800']);
    expect(await server.command('DEBUG', 'SLEEP', '0')).toBe('OK');
  });

  it('quotes the output of a server that does not start', async () => {
    await expect(start({ args: ['--no-such-option', '1'] })).rejects.toThrow(/Bad directive/);
  });

  it('does not take another server on its port for its own', async () => {
    const first = await start();
    await expect(start({ port: first.port })).rejects.toThrow(/Address already in use/);
  });

  it('freezes and thaws', async () => {
    const server = await start();
    server.pause();
    expect(
      await within(
        server.command('PING').catch(() => 'error'),
        100,
      ),
    ).not.toBe('PONG');
    server.resume();
    expect(await server.command('PING')).toBe('PONG');
  });

  it('is gone after stop, frozen or not, and can come back on the same port', async () => {
    const server = await start();
    server.pause();
    await server.stop();
    await server.stop();
    expect(existsSync(`/proc/${server.pid}`)).toBe(false);
    const again = await start({ port: server.port });
    expect(await again.command('PING')).toBe('PONG');
  });

  it('ends with the process that started it, even when that is killed', async () => {
    const starter = spawnNode('libs/testing/test/fixtures/start-redis-and-wait.js');
    const pid = Number((await starter.waitForLine(/redis pid (\d+)/))[1]);
    expect(isRunning(pid)).toBe(true);
    await starter.kill();
    await waitFor(() => !isRunning(pid), { what: 'the server of the killed process is gone' });
    expect(isRunning(pid)).toBe(false);
  });
});

describe('sharedRedisUrl', () => {
  it('names the Redis that the global setup started', async () => {
    expect(await redisCommand(Number(new URL(sharedRedisUrl()).port), ['PING'])).toBe('PONG');
  });
});

/** A killed process may stay a zombie until its parent looks. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
