import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, type RedisServer } from '../redis/start-redis.js';
import { waitFor } from '../wait-for.js';
import { within } from '../within.js';
import { startFaultProxy, type FaultProxy } from './start-fault-proxy.js';

/** How long to wait for what must not come. */
const IN_VAIN_MS = 150;

describe('startFaultProxy', () => {
  let server: RedisServer;
  let proxy: FaultProxy;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    proxy = await startFaultProxy({ port: server.port });
    client = await connected(proxy);
  });
  afterEach(async () => {
    if (client.status !== 'end') client.disconnect();
    await proxy.close();
  });

  it('passes everything on, also a lot of it', async () => {
    const value = randomBytes(3_000_000);
    await client.set('large', value);
    expect((await client.getBuffer('large'))!.equals(value)).toBe(true);
    expect(await server.command('STRLEN', 'large')).toBe(value.length);
  });

  it('counts the connections of clients that are there', async () => {
    const other = await connected(proxy);
    expect(proxy.connections).toBe(2);
    other.disconnect();
    await waitFor(() => proxy.connections === 1, { what: 'one has left' });
    await waitFor(async () => (await clientsOf(server)) === 1, { what: 'the server has seen it leave' });
    expect(await client.ping()).toBe('PONG');
  });

  it('delays replies from then on, those of a pipeline by one delay', async () => {
    proxy.delay(200);
    const { tookMs } = await timed(Promise.all(Array.from({ length: 10 }, () => client.ping())));
    expect(tookMs).toBeGreaterThanOrEqual(200);
    expect(tookMs).toBeLessThan(1000);
    const late = timed(client.incr('delayed'));
    await waitFor(async () => (await server.command('GET', 'delayed')) === '1', { what: 'the request is not late' });
    proxy.delay(0);
    expect((await late).tookMs).toBeGreaterThanOrEqual(200);
    expect((await timed(client.ping())).tookMs).toBeLessThan(200);
  });

  it('keeps the order under jitter', async () => {
    proxy.delay(5, 30);
    const order: number[] = [];
    const took: number[] = [];
    const calls = Array.from({ length: 40 }, async (_, i) => {
      await sleep(i * 3);
      const { value, tookMs } = await timed(client.echo(String(i)));
      order.push(Number(value));
      took.push(tookMs);
    });
    await Promise.all(calls);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(Math.min(...took)).toBeGreaterThanOrEqual(5);
    expect(Math.max(...took)).toBeGreaterThan(15);
  });

  it('bounds the bandwidth', async () => {
    await server.command('SET', 'wide', 'x'.repeat(50_000));
    proxy.bandwidth(200_000);
    const { tookMs } = await timed(client.get('wide'));
    expect(tookMs).toBeGreaterThan(200);
    expect(tookMs).toBeLessThan(1500);
    proxy.bandwidth(undefined);
    expect((await timed(client.get('wide'))).tookMs).toBeLessThan(200);
  });

  it('holds everything while frozen, and loses none of it', async () => {
    proxy.freeze();
    const replies = Promise.all([client.incr('frozen'), client.incr('frozen')]);
    const newcomer = connected(proxy);
    expect(await within(Promise.race([replies, newcomer.then((it) => it.ping())]), IN_VAIN_MS)).toBeUndefined();
    expect(await server.command('EXISTS', 'frozen')).toBe(0);
    expect(proxy.connections).toBe(2);
    proxy.thaw();
    expect(await replies).toEqual([1, 2]);
    (await newcomer).disconnect();
  });

  it('delivers what a client sent that gave up while it was frozen', async () => {
    proxy.freeze();
    client.incr('given up').catch(() => undefined);
    await sleep(20);
    client.disconnect();
    await waitFor(() => proxy.connections === 0, { what: 'the client has left' });
    proxy.thaw();
    await waitFor(async () => (await server.command('GET', 'given up')) === '1', { what: 'the command arrives late' });
    await waitFor(async () => (await clientsOf(server)) === 0, { what: 'the connection ends at the server' });
    expect(await clientsOf(server)).toBe(0);
  });

  it('resets all connections, once or again and again', async () => {
    const raw = connect(proxy.port, '127.0.0.1');
    await once(raw, 'connect');
    await waitFor(() => proxy.connections === 2, { what: 'both are there' });
    const [rawError, clientError] = [once(raw, 'error'), once(client, 'error')];
    proxy.resetAll();
    expect(await rawError).toMatchObject([{ code: 'ECONNRESET' }]);
    expect(await clientError).toMatchObject([{ code: 'ECONNRESET' }]);
    expect(proxy.connections).toBe(0);

    proxy.resetEvery(30);
    for (let round = 0; round < 2; round++) await ended(await connected(proxy));
    await proxy.heal();
    const lasting = await connected(proxy);
    await sleep(60);
    expect(await lasting.ping()).toBe('PONG');
    lasting.disconnect();
  });

  it('swallows everything while half open; healing resets who lost something', async () => {
    const idle = await connected(proxy);
    proxy.halfOpen();
    const lost = client.incr('lost').catch((error: unknown) => error);
    const raw = connect(proxy.port, '127.0.0.1').on('error', () => undefined);
    raw.write('INCR lost\r\n');
    const rawClosed = new Promise((resolve) => raw.once('close', resolve));
    expect(await within(Promise.race([lost, rawClosed]), IN_VAIN_MS)).toBeUndefined();
    expect(proxy.connections).toBe(3);
    await proxy.heal();
    expect(await lost).toBeInstanceOf(Error);
    expect(await rawClosed).toBe(true);
    expect(await idle.exists('lost')).toBe(0);
    idle.disconnect();
  });

  it('refuses connections, and accepts them again on the same port', async () => {
    proxy.refuse();
    await ended(client);
    await expect(connected(proxy)).rejects.toThrow(/ECONNREFUSED/);
    const { port } = proxy;
    await Promise.all([proxy.heal(), proxy.heal()]);
    expect(proxy.port).toBe(port);
    const again = await connected(proxy);
    expect(await again.ping()).toBe('PONG');
    again.disconnect();
  });

  it('heals all at once: what is late or held leaves now', async () => {
    proxy.delay(60_000);
    proxy.bandwidth(1000);
    const late = client.ping();
    await sleep(20);
    proxy.freeze();
    expect(await within(late, IN_VAIN_MS)).toBeUndefined();
    await proxy.heal();
    expect(await late).toBe('PONG');
  });

  it('resets who connects while the server is not there', async () => {
    const gone = await startRedis();
    const before = await startFaultProxy({ port: gone.port });
    await gone.stop();
    await expect(connected(before)).rejects.toThrow();
    await before.close();
    await before.close();
    await expect(connected(before)).rejects.toThrow(/ECONNREFUSED/);
  });
});

/** A client that gives up at the first fault. */
async function connected(proxy: FaultProxy): Promise<Redis> {
  const settings = { enableReadyCheck: false, maxRetriesPerRequest: 0, retryStrategy: () => null };
  const client = new Redis({ host: '127.0.0.1', port: proxy.port, lazyConnect: true, ...settings });
  const failed = once(client, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  client.on('error', () => undefined);
  await Promise.race([client.connect().then(() => client.ping()), failed]);
  return client;
}

async function ended(client: Redis): Promise<void> {
  await waitFor(() => client.status === 'end', { what: 'the client is cut off' });
}

/** But for the connection that asks. */
async function clientsOf(server: RedisServer): Promise<number> {
  return (
    String(await server.command('CLIENT', 'LIST'))
      .trim()
      .split('\n').length - 1
  );
}

async function timed<T>(call: Promise<T>): Promise<{ readonly value: T; readonly tookMs: number }> {
  const startedMs = performance.now();
  const value = await call;
  return { value, tookMs: performance.now() - startedMs };
}
