/** Redis as Esclusa uses it: bounded connections that never wait and never take late, and the Lua loader. */
export type { BreakerState } from './circuit-breaker.js';
export { connectRedis } from './connect-redis.js';
export { RedisClient, type CallResult, type RedisClientOptions } from './redis-client.js';
export { loadScript, type Script } from './script.js';
export { parseRedisUrl } from './redis-target.js';
export { StoreFault, type StoreFaultKind } from './store-fault.js';
