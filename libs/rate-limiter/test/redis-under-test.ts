import { randomUUID } from 'node:crypto';
import { RedisBucketStore } from '#libs/rate-limiter';
import { connectRedis, type RedisClient, loadScript, type Script } from '#libs/redis';
import { waitFor } from '#libs/testing';
import type { StoreUnderTest } from './bucket-store.contract.js';

/** The admit script with its clock read from a key that the test sets, instead of TIME. */
function scriptWithClock(clockKey: string): Script {
  return loadScript('admit-n', {
    'includes/server-time': `local function server_time() return tonumber(redis.call('GET', '${clockKey}')) end`,
  });
}

export interface RedisUnderTest extends StoreUnderTest {
  readonly client: RedisClient;
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;
}

export async function redisUnderTest(url: string): Promise<RedisUnderTest> {
  const clockKey = `test:clock:${randomUUID()}`;
  const script = scriptWithClock(clockKey);
  const client = connectRedis({ url, deadlineMs: 1000, scripts: [script], connectionName: 'contract' });
  await waitFor(() => client.connected, { timeoutMs: 5000, what: 'the connection to Redis' });
  return {
    client,
    command: (name, ...args) => client.command(name, ...args),
    store: new RedisBucketStore(client, script),
    setTimeUs: async (nowUs) => {
      await client.command('SET', clockKey, nowUs, 'EX', 600);
    },
    storedTokens: async (key) => {
      const tokens = (await client.command('HGET', key, 'tokens')) as string | null;
      return tokens === null ? undefined : Number(tokens);
    },
    close: () => client.close(),
  };
}
