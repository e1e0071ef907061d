import { startSharedRedis } from './redis/shared-redis.js';

/** Before the first integration or e2e test: gets redis-server where it is missing and starts the one that all workers share. */
export default async function globalSetup(): Promise<void> {
  await startSharedRedis();
}
