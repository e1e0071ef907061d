import { startRedis, type RedisServer } from './start-redis.js';

/** Holds the URL of the Redis that all workers of a test run share. Set it yourself to test with a Redis of your own. */
const VARIABLE = 'ESCLUSA_TEST_REDIS_URL';

let shared: RedisServer | undefined;

/**
 * The Redis of this test run: `redis://127.0.0.1:PORT`. Test files run in parallel, so use tenants or key prefixes that no other
 * test has, and never FLUSH it; a test that needs more takes a server of its own by `startRedis`.
 * @throws Error outside the jest projects that start it.
 */
export function sharedRedisUrl(): string {
  const url = process.env[VARIABLE];
  if (url === undefined) throw new Error(`${VARIABLE} is not set: only the jest projects integration and e2e start a shared Redis`);
  return url;
}

/** For jest's global setup: does nothing if one is there already. */
export async function startSharedRedis(): Promise<void> {
  if (process.env[VARIABLE] !== undefined) return;
  shared = await startRedis();
  process.env[VARIABLE] = shared.url;
}

/** For jest's global teardown: stops only what `startSharedRedis` started. */
export async function stopSharedRedis(): Promise<void> {
  if (shared === undefined) return;
  await shared.stop();
  shared = undefined;
  Reflect.deleteProperty(process.env, VARIABLE);
}
