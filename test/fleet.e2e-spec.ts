import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectRedis, type RedisClient } from '#libs/redis';
import { answerAfter, startBackend, startRedis, waitFor, type Backend, type RedisServer } from '#libs/testing';
import { bucket, policy, writeEdge, WIDE, type EdgeFiles } from './support/edge.js';
import { ask, tally, times, type Answer } from './support/http.js';
import { spawnGateway, type GatewayProcess } from './support/processes.js';

const ROUNDS = 10;

describe('two gateways, one Redis', () => {
  let redis: RedisServer;
  let backend: Backend;
  let files: EdgeFiles;
  let client: RedisClient;
  beforeAll(async () => {
    redis = await startRedis();
    backend = await startBackend();
    client = connectRedis({ url: redis.url, deadlineMs: 2000, scripts: [], connectionName: 'test' });
    await waitFor(() => client.connected, { what: 'Redis' });
    files = writeEdge(backend.url, {
      // A storm on a busy machine is about limits, not about the time that an upstream takes.
      edge: { upstreams: { backend: { url: backend.url, timeouts: { connectMs: 20_000, headersMs: 20_000 } } } },
      routes: [
        { name: 'all', path: '/*' },
        { name: 'many', path: '/many' },
      ],
      policies: [
        policy('hundred', ['tenant'], bucket(100, '1/3600'), { routes: ['all'] }),
        policy('many-a', ['tenant'], bucket(50, '1/3600'), { routes: ['many'] }),
        policy('many-b', ['tenant', 'route'], bucket(50, '1/3600'), { routes: ['many'] }),
        policy('many-c', ['user'], bucket(50, '1/3600'), { routes: ['many'] }),
        policy('many-route', ['route'], bucket(3, '1/1200'), { routes: ['many'] }),
        ...WIDE,
      ],
      callers: Object.fromEntries(Array.from({ length: ROUNDS * 2 + 1 }, (_, i) => [`t${i}`, { tenant: `t${i}`, user: 'u' }])),
    });
  });
  afterAll(async () => {
    await client.close();
    await redis.stop();
    await backend.close();
    files.remove();
  });

  // The deadline is wide: what is tested is exactness, on a machine that may be busy.
  const env = () => ({ ...files.env, REDIS_URL: redis.url, REDIS_DEADLINE_MS: '1000' });

  const storm = (gateways: readonly GatewayProcess[], tenant: string): Promise<Answer[]> =>
    times(2000, (i) => ask(gateways[i % gateways.length]!.url, '/x', { headers: { 'x-api-key': files.keys[tenant] ?? '' } }));
  const ready = async (gateway: GatewayProcess): Promise<void> => {
    await waitFor(async () => (await ask(gateway.url, '/x', {})).headers.ratelimit !== undefined, { what: 'the store' });
  };

  it.each([
    ['clocks that agree', 0],
    ['clocks 10 s apart', 10_000],
  ])(
    'admit exactly 100 of 2,000 parallel calls, ten times in a row, with %s',
    async (_name, skewMs) => {
      const gateways = [await spawnGateway(env()), await spawnGateway(env(), { skewMs })];
      for (const gateway of gateways) await ready(gateway);
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = await storm(gateways, `t${(skewMs === 0 ? 0 : ROUNDS) + round}`);
        expect(tally(answers)).toEqual({ 200: 100, 429: 1900 });
      }
      for (const gateway of gateways) expect(await gateway.process.stop()).toBe(0);
    },
    240_000,
  );

  it('ask Redis once for a request under four policies, and a refusal by one leaves the other three unchanged', async () => {
    const gateway = await spawnGateway(env());
    await ready(gateway);
    const call = () => ask(gateway.url, '/many', { headers: { 'x-api-key': files.keys[`t${ROUNDS * 2}`] ?? '' } });
    const evalCalls = async (): Promise<number> => {
      const stats = String(await client.command('INFO', 'commandstats'));
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const before = await evalCalls();
    expect((await call()).status).toBe(200);
    expect((await evalCalls()) - before).toBe(1);
    await call();
    await call();
    const tenant = `t${ROUNDS * 2}`;
    const keys = [`rl1:{tenant:${tenant}}:many-a`, `rl1:{tenant:${tenant}}:many-b:route:many`, `rl1:{tenant:${tenant}}:many-c:user:u`];
    const state = () => Promise.all(keys.map((key) => client.command('HGETALL', key)));
    const unchanged = await state();
    expect(unchanged.every((fields) => /"4700\d{4}"/.test(JSON.stringify(fields)))).toBe(true);
    const refused = await call();
    expect([refused.status, refused.json()['violated-policies']]).toEqual([429, ['many-route']]);
    expect(await state()).toEqual(unchanged);
    await gateway.process.stop();
  });

  it('tells what matters: refusals by caller with a count, and a Redis that is gone, at start and later', async () => {
    const own = await startRedis();
    const gateway = await spawnGateway({ ...env(), REDIS_URL: own.url });
    await gateway.process.waitForLine(/Redis is connected/);
    for (let i = 0; i < 5; i += 1) await ask(gateway.url, '/many');
    const [line = ''] = await gateway.process.waitForLine(/\{.*"refused".*\}/);
    expect(JSON.parse(line)).toMatchObject({ caller: 'ip 127.0.0.1', policy: 'many-route', route: 'many', count: 2 });
    await own.stop();
    await gateway.process.waitForLine(/Redis is not connected, failure modes decide/);
    await gateway.process.stop();
    const late = await spawnGateway({ ...env(), REDIS_URL: own.url });
    await late.process.waitForLine(/Redis is not connected.*ECONNREFUSED/);
    expect((await ask(late.adminUrl, '/metrics')).text).toContain('esclusa_store_connected{node="redis"} 0');
    expect((await ask(late.adminUrl, '/health/ready')).status).toBe(200);
    await late.process.stop();
  });

  it('NEST-05: SIGTERM lets requests in flight finish and stops in order; a second signal changes nothing', async () => {
    const gateway = await spawnGateway(env());
    await ready(gateway);
    backend.forget();
    backend.handleWith(answerAfter(800));
    const slow = ask(gateway.url, '/x');
    await waitFor(() => backend.requests.length > 0, { what: 'the request to be in flight' });
    const ended = gateway.process.stop('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const again = gateway.process.stop('SIGTERM');
    expect((await slow).status).toBe(200);
    expect(await ended).toBe(0);
    expect(await again).toBe(0);
    await expect(ask(gateway.url, '/x')).rejects.toThrow('ECONNREFUSED');
    const steps = gateway.process.lines
      .filter((line) => line.includes('"Shutdown"'))
      .map((line) => (JSON.parse(line) as { message: string }).message);
    expect(steps).toEqual([
      'SIGTERM: stopping',
      'stop accepting, let requests finish',
      'close identity',
      'close Redis',
      'close the admin port',
    ]);
  });
});
