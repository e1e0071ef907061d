/** Real servers, processes and clocks for tests and benches; nothing else imports it. */
export { startBackend, type Backend, type RecordedRequest } from './backend.js';
export { answerAfter, answerJson, drip, failWith, resetConnection } from './backend-handlers.js';
export { FakeClock } from './fake-clock.js';
export { startFaultProxy, type FaultProxy, type ProxyTarget } from './fault-proxy/start-fault-proxy.js';
export { freePort } from './free-port.js';
export { NoRedisError } from './redis/redis-program.js';
export { type RedisNode } from './redis/redis-node.js';
export { sharedRedisUrl } from './redis/shared-redis.js';
export { type SlotMove } from './redis/slot-move.js';
export { startRedis, type RedisServer, type StartRedisOptions } from './redis/start-redis.js';
export { startRedisCluster, type RedisCluster, type RedisClusterNode, type StartRedisClusterOptions } from './redis/start-redis-cluster.js';
export { startRedisSentinel, type RedisSentinel, type StartRedisSentinelOptions } from './redis/start-redis-sentinel.js';
export { repositoryRoot } from './repository-root.js';
export { spawnNode, type SpawnedNode, type SpawnNodeOptions } from './spawn-node.js';
export { waitFor, type WaitOptions } from './wait-for.js';
