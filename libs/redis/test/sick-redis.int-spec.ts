import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, loadScript, type BreakerState, type CallResult, type RedisClient, type StoreFault } from '#libs/redis';
import { startFaultProxy, startRedis, waitFor, type FaultProxy, type RedisServer } from '#libs/testing';

const script = loadScript('admit-n');
/** A bucket of a million that does not refill to speak of. */
const ARGS = ['tb', 0, 1, 1_000_000, 1, 3600];
const DEADLINE_MS = 20;

describe('a client whose Redis is sick', () => {
  const open: { close(): Promise<void> }[] = [];
  const results: CallResult[] = [];
  const breaker: BreakerState[] = [];
  const connection: boolean[] = [];

  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
    for (const list of [results, breaker, connection]) list.length = 0;
  });

  const start = async (): Promise<{ redis: RedisServer; proxy: FaultProxy; client: RedisClient }> => {
    const redis = await startRedis();
    const proxy = await startFaultProxy({ port: Number(new URL(redis.url).port) });
    const client = connectRedis({
      url: `redis://127.0.0.1:${proxy.port}`,
      deadlineMs: DEADLINE_MS,
      scripts: [script],
      connectionName: 'sick',
      onCall: (result) => results.push(result),
      onBreaker: (_node, state) => breaker.push(state),
      onConnection: (_node, connected) => connection.push(connected),
    });
    open.push({ close: () => redis.stop() }, proxy, client);
    await waitFor(() => client.connected, { timeoutMs: 5000, what: 'the connection to Redis' });
    return { redis, proxy, client };
  };
  const ask = (client: RedisClient, key = '{a}'): Promise<'ok' | StoreFault> =>
    client.run(script, [key], ARGS).then(
      () => 'ok',
      (error: unknown) => error as StoreFault,
    );
  /** Calls at a steady pace. */
  const load = async (client: RedisClient, ms: number, everyMs = 5): Promise<readonly ('ok' | StoreFault)[]> => {
    const answers: Promise<'ok' | StoreFault>[] = [];
    const endsAt = performance.now() + ms;
    while (performance.now() < endsAt) {
      answers.push(ask(client));
      await sleep(everyMs);
    }
    return Promise.all(answers);
  };
  const kinds = (answers: readonly ('ok' | StoreFault)[]): ReadonlySet<string> =>
    new Set(answers.map((answer) => (answer === 'ok' ? 'ok' : answer.kind)));
  const healed = async (client: RedisClient): Promise<void> => {
    await waitFor(async () => (await ask(client)) === 'ok' && (breaker.length === 0 || breaker.at(-1) === 'closed'), {
      timeoutMs: 8000,
      what: 'recovery by itself',
    });
  };

  it('frozen: calls end by their deadline, then at once, take nothing after the thaw, and recovery needs no one', async () => {
    const { redis, client } = await start();
    await ask(client);
    redis.pause();
    const faults = await load(client, 400);
    expect(kinds(faults)).toEqual(new Set(['deadline', 'breaker']));
    expect(breaker).toEqual(['open']);
    redis.resume();
    await healed(client);
    expect(breaker).toEqual(['open', 'closing', 'closed']);
    const taken = 1_000_000 - Math.floor(Number(await client.command('HGET', '{a}', 'tokens')) / 1e6);
    expect(taken).toBe(results.filter((result) => result === 'ok').length);
  });

  it('too slow: it opens and stays open, since probes are as slow; fast again, it closes', async () => {
    const { proxy, client } = await start();
    proxy.delay(60);
    await load(client, 500);
    expect(breaker).toEqual(['open']);
    await sleep(600);
    expect(breaker).toEqual(['open']);
    await proxy.heal();
    await healed(client);
  });

  it('a little slow: nobody notices', async () => {
    const { proxy, client } = await start();
    proxy.delay(2);
    expect(kinds(await load(client, 300))).toEqual(new Set(['ok']));
    expect(breaker).toEqual([]);
  });

  it('a hiccup shorter than the breaker’s patience costs those calls that met it', async () => {
    const { redis, client } = await start();
    redis.pause();
    const during = load(client, 30, 1);
    await sleep(30);
    redis.resume();
    await during;
    expect(breaker).toEqual([]);
    await waitFor(async () => (await ask(client)) === 'ok', { what: 'the next answer' });
  });

  it('half-open: a connection without a word is given up, and another one works', async () => {
    const { proxy, client } = await start();
    proxy.halfOpen();
    expect(kinds(await load(client, 300))).toEqual(new Set(['deadline', 'breaker']));
    await waitFor(() => connection.includes(false), { timeoutMs: 5000, what: 'the silence to be noticed' });
    await proxy.heal();
    await healed(client);
  });

  it('RED-07, reset again and again: every call settles, and in between they work', async () => {
    const { proxy, client } = await start();
    proxy.resetEvery(100);
    const answers = await load(client, 1500);
    expect(kinds(answers)).toContain('ok');
    expect(kinds(answers)).toContain('connection');
    await proxy.heal();
    await healed(client);
  });

  it('RED-09, refused: answered at once, and back within a second of its return', async () => {
    const { proxy, client } = await start();
    proxy.refuse();
    await waitFor(() => !client.connected, { what: 'the loss to be noticed' });
    const answers = await load(client, 300);
    expect(kinds(answers)).toEqual(new Set(['connection']));
    await proxy.heal();
    await healed(client);
  });

  it('full, with noeviction: OOM opens the breaker, a write as probe keeps it open, and room closes it', async () => {
    const { redis, client } = await start();
    const admin = connectRedis({ url: redis.url, deadlineMs: 1000, scripts: [], connectionName: 'admin' });
    open.push(admin);
    await waitFor(() => admin.connected, { what: 'the other connection' });
    await ask(client);
    await admin.command('CONFIG', 'SET', 'maxmemory', '1');
    const faults = await load(client, 400);
    expect(faults.find((fault) => fault !== 'ok' && fault.code === 'OOM')).toBeDefined();
    await sleep(500);
    expect(breaker).toEqual(['open']);
    await admin.command('CONFIG', 'SET', 'maxmemory', '0');
    await healed(client);
    // The bucket was not started afresh.
    expect(Number(await client.command('HGET', '{a}', 'tokens'))).toBeLessThan(1_000_000e6);
  });

  it.each([
    ['BUSY', ['EVAL', 'local t = redis.call("TIME")[1] + 2 while redis.call("TIME")[1] + 0 < t do end', 0]],
    ['a wrong type of server: READONLY', ['REPLICAOF', '127.0.0.1', 1]],
  ] as const)('%s is a fault with its code or its deadline, and heals', async (_what, command) => {
    const { redis, client } = await start();
    const admin = connectRedis({ url: redis.url, deadlineMs: 50, scripts: [], connectionName: 'admin' });
    open.push(admin);
    await waitFor(() => admin.connected, { what: 'the other connection' });
    await admin.command('CONFIG', 'SET', 'busy-reply-threshold', 20);
    const [verb, ...args] = command;
    void admin.command(verb, ...args).catch(() => undefined);
    await sleep(20);
    const answers = await load(client, 400);
    expect(answers.slice(-10).filter((answer) => answer === 'ok')).toEqual([]);
    if (verb === 'REPLICAOF') await admin.command('REPLICAOF', 'NO', 'ONE');
    await healed(client);
  });

  it('its own event loop blocked for 30 ms five times a second is no fault of Redis', async () => {
    const { client } = await start();
    const block = setInterval(() => {
      for (const endsAt = performance.now() + 30; performance.now() < endsAt;);
    }, 200);
    expect(kinds(await load(client, 1500, 2))).toEqual(new Set(['ok']));
    clearInterval(block);
  });
});
