import { stopSharedRedis } from './redis/shared-redis.js';

/** After the last test, once. */
export default async function globalTeardown(): Promise<void> {
  await stopSharedRedis();
}
