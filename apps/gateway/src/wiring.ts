import { Logger } from '@nestjs/common';
import { Admission } from '#libs/admission';
import { Identifier } from '#libs/identity';
import { MemoryBucketStore, RedisBucketStore, bucketScripts } from '#libs/rate-limiter';
import { connectRedis, type RedisClient } from '#libs/redis';
import type { EdgeRules } from './edge/edge-rules.js';
import { EnvError, type GatewayEnv } from './gateway.env.js';
import { CountedLog } from './telemetry/counted-log.js';
import type { DecisionMetrics } from './telemetry/decision-metrics.js';

/** How the libraries become the gateway's providers. */

/** @throws EnvError */
export function makeIdentifier(rules: EdgeRules, env: GatewayEnv): Identifier {
  try {
    return Identifier.create(rules.current.edge.identity, { pepper: env.API_KEY_PEPPER, log: new Logger('Identity') });
  } catch (error) {
    // All that can be wrong here is what the edge document and the environment name.
    throw new EnvError(`identity cannot be set up: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Undefined where the limits live in this process. Does not wait for Redis: until it is there, failure modes decide. */
export function connectStore(env: GatewayEnv, metrics: DecisionMetrics): RedisClient | undefined {
  const logger = new Logger('Store');
  if (env.REDIS_URL === undefined) {
    logger.warn('STORE=memory: limits are those of this one process; start no second gateway beside it');
    return undefined;
  }
  return connectRedis({
    url: env.REDIS_URL,
    deadlineMs: env.REDIS_DEADLINE_MS,
    scripts: bucketScripts,
    connectionName: env.GATEWAY_ID,
    onCall: (result) => {
      metrics.storeCall(result);
    },
    onConnection: (node, connected, detail) => {
      metrics.storeConnected(node, connected);
      if (connected) logger.log('Redis is connected', { node });
      else logger.warn(`Redis is not connected, failure modes decide: ${detail}`, { node });
    },
    onBreaker: (node, state, why) => {
      metrics.storeBreaker(node, state);
      if (state === 'open') logger.warn(`Redis is not asked, failure modes decide: ${why}`, { node });
      else logger.log(state === 'closing' ? 'Redis answers probes, a growing share of calls goes to it' : 'Redis is asked again', { node });
    },
    onGone: (node) => {
      metrics.storeGone(node);
    },
  });
}

export function makeAdmission(rules: EdgeRules, metrics: DecisionMetrics, redis: RedisClient | undefined): Admission {
  const local = new MemoryBucketStore();
  const faults = new CountedLog('Store', 'no answer from the store; failure modes decided');
  metrics.limitsRevision(rules.current.revision);
  return new Admission({
    rules: () => rules.current,
    store: redis === undefined ? new MemoryBucketStore() : new RedisBucketStore(redis),
    local,
    onFault: (fault) => {
      faults.note({ fault: fault.code === undefined ? fault.kind : `${fault.kind} ${fault.code}` });
    },
    onHealed: (count) => {
      metrics.healedBuckets(count);
    },
  });
}
