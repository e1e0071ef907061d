/** Redis as Esclusa uses it: one bounded connection that never waits and never takes late, and the Lua loader. */
export { RedisClient, type CallResult, type RedisClientOptions } from './redis-client.js';
export { loadScript, type Script } from './script.js';
export { redisUrlProblem } from './redis-url.js';
export { StoreFault, type StoreFaultKind } from './store-fault.js';
