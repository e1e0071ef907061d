import { afterEach, describe, expect, it } from '@jest/globals';
import type { StoreFault } from '#libs/redis';
import { connectRedis, type RedisClient, loadScript, type CallResult } from '#libs/redis';
import { startRedis, waitFor } from '#libs/testing';

const script = loadScript('admit-n');
const ARGS = ['tb', 0, 1, 10, 1, 3600];

type Server = Awaited<ReturnType<typeof startRedis>>;

describe('RedisClient', () => {
  const open: { close(): Promise<void> }[] = [];
  let results: CallResult[] = [];

  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
    results = [];
  });

  const start = async (): Promise<Server> => {
    const server = await startRedis();
    open.push({ close: () => server.stop() });
    return server;
  };
  const connect = (url: string, deadlineMs: number): RedisClient => {
    const client = connectRedis({
      url,
      deadlineMs,
      scripts: [script],
      connectionName: 'client-test',
      onCall: (result) => results.push(result),
    });
    open.push(client);
    return client;
  };
  const connected = async (url: string, deadlineMs: number): Promise<RedisClient> => {
    const client = connect(url, deadlineMs);
    await waitFor(() => client.connected, { timeoutMs: 5000, what: 'the connection to Redis' });
    return client;
  };
  const fault = (call: Promise<unknown>): Promise<StoreFault> =>
    call.then(
      () => {
        throw new Error('expected a fault');
      },
      (error: unknown) => error as StoreFault,
    );

  it('fails at once while there is no server, and serves once there is one', async () => {
    const server = await start();
    await server.stop();
    const client = connect(server.url, 1000);
    expect(await fault(client.run(script, ['{a}'], ARGS))).toMatchObject({ kind: 'connection' });
    expect(results).toEqual(['connection']);
  });

  it('a call to a frozen server ends at its deadline and takes nothing after the thaw', async () => {
    const server = await start();
    const client = await connected(server.url, 20);
    await client.run(script, ['{a}'], ARGS);
    server.pause();
    expect(await fault(client.run(script, ['{a}'], ARGS))).toMatchObject({ kind: 'deadline' });
    await new Promise((resolve) => setTimeout(resolve, 60));
    server.resume();
    await waitFor(() => results.includes('late'), { timeoutMs: 5000, what: 'the late reply' });
    expect(await client.command('HGET', '{a}', 'tokens')).toBe('9000000');
  });

  it('RED-07: every call in flight settles when the connection dies, and the next ones work again', async () => {
    const server = await start();
    const client = await connected(server.url, 100);
    server.pause();
    const calls = Array.from({ length: 200 }, () => fault(client.run(script, ['{a}'], ARGS)));
    server.resume();
    await client.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no').catch(() => undefined);
    await Promise.all(calls.map((call) => call.catch(() => undefined)));
    const answers = (): Promise<boolean> =>
      client.run(script, ['{b}'], ARGS).then(
        (reply) => reply.length === 7,
        () => false,
      );
    await waitFor(answers, { timeoutMs: 5000, what: 'an answer after the reconnection' });
    expect(results.filter((result) => result === 'ok').length).toBeGreaterThan(0);
  });

  it('bounds the calls that wait for replies', async () => {
    const server = await start();
    const client = await connected(server.url, 50);
    server.pause();
    const faults = await Promise.all(Array.from({ length: 4200 }, () => fault(client.run(script, ['{a}'], ARGS))));
    expect(faults.filter(({ kind }) => kind === 'overload').length).toBeGreaterThanOrEqual(100);
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(['deadline', 'overload']));
    server.resume();
  });

  it('an error reply is a fault that carries its code', async () => {
    const server = await start();
    const client = await connected(server.url, 500);
    await client.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await fault(client.run(script, ['{a}'], ARGS))).toMatchObject({ kind: 'reply', code: 'OOM' });
  });
});
