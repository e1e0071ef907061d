import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRedis, waitFor, type RedisServer } from '#libs/testing';
import { bucket, policy, startEdge, type TestEdge } from './support/edge.js';
import { ask, tally, times } from './support/http.js';

describe('without an answer from Redis', () => {
  let redis: RedisServer;
  let edge: TestEdge;
  beforeAll(async () => {
    redis = await startRedis();
    edge = await startEdge({
      routes: ['open', 'closed', 'local'].map((failureMode) => ({ name: failureMode, path: `/${failureMode}`, failureMode })),
      edge: { local: { gateways: 2 } },
      policies: [policy('requests', ['tenant', 'route'], bucket(40, '1/3600')), policy('address', ['ip'], bucket(1000, 1000))],
      callers: { a: { tenant: 'a' } },
      env: { REDIS_URL: redis.url, REDIS_DEADLINE_MS: 50 },
    });
    await waitFor(async () => (await get('/open')).headers.ratelimit !== undefined, { what: 'the store' });
  });
  afterAll(async () => {
    await edge.close();
    await redis.stop();
  });

  const get = (path: string) => ask(edge.url, path, { headers: { 'x-api-key': edge.keys.a ?? '' } });

  const eachModeDoesWhatItSays = async (): Promise<void> => {
    const open = await times(50, () => get('/open'));
    expect(tally(open)).toEqual({ 200: 50 });
    for (const { headers } of open) expect(headers).not.toHaveProperty('ratelimit');
    const closed = await times(50, () => get('/closed'));
    expect(tally(closed)).toEqual({ 503: 50 });
    expect(closed[0]?.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
    expect(closed[0]?.json()).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      status: 503,
    });
  };

  it('FAIL-01: open admits without RateLimit fields, closed is 503 and never 429, local limits by its share, frozen or dead', async () => {
    redis.pause();
    await eachModeDoesWhatItSays();
    expect(tally(await times(50, () => get('/local')))).toEqual({ 200: 10, 429: 40 });
    redis.resume();
    await waitFor(async () => (await get('/open')).headers.ratelimit !== undefined, { what: 'recovery by itself' });
    await redis.stop();
    await eachModeDoesWhatItSays();
    // The share's state outlived the flap: no fresh bucket.
    expect(tally(await times(50, () => get('/local')))).toEqual({ 429: 50 });
    const { text } = await ask(edge.gateway.adminUrl, '/metrics');
    // Some of the calls that waited for the recovery were decided by the failure mode too.
    expect(text).toMatch(/esclusa_decisions_total\{route="open",outcome="allowed",reason="store-unavailable"\} 1\d\d/);
    expect(text).toContain('esclusa_decisions_total{route="closed",outcome="unavailable",reason="store-unavailable"} 100');
    expect((await ask(edge.gateway.adminUrl, '/health/live')).status).toBe(200);
    expect((await ask(edge.gateway.adminUrl, '/health/ready')).status).toBe(200);
  });
});
