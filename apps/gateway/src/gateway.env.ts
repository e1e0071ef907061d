import 'reflect-metadata';
import { ConfigModule } from '@nestjs/config';
import { plainToInstance, Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, MinLength, validateSync } from 'class-validator';
import { hostname } from 'node:os';
import { parseRedisUrl } from '#libs/redis';
import { RATE_LIMIT_DIALECTS, type RateLimitDialect } from './answers/rate-limit-fields.js';

const toInteger = Transform(({ value }: { value: unknown }) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value));
const port = 'a port, 0 to 65535 (0: any free one)';

/** Everything the gateway reads from its environment (`.env` is read too), once, at start. */
export class GatewayEnv {
  @IsString({ message: 'an address to listen on' })
  HOST = '0.0.0.0';

  @toInteger
  @IsInt({ message: port })
  @Min(0, { message: port })
  @Max(65535, { message: port })
  PORT = 8080;

  /** Metrics, health, key inspection and reset. On the loopback interface unless ADMIN_TOKEN is set. */
  @toInteger
  @IsInt({ message: port })
  @Min(0, { message: port })
  @Max(65535, { message: port })
  ADMIN_PORT = 9090;

  @IsOptional()
  @MinLength(16, { message: 'a secret of at least 16 characters' })
  ADMIN_TOKEN?: string;

  @IsString({ message: 'the path of an edge document' })
  EDGE_CONFIG = 'config/edge.yaml';

  @Matches(/^(?!https?:)./, { message: 'the path of a limits document; a URL of a rules service is not supported in this version' })
  LIMITS_SOURCE = 'config/limits.yaml';

  @IsOptional()
  @IsString({ message: 'redis://…, redis+sentinel://… or redis+cluster://…' })
  REDIS_URL?: string;

  /** `memory`: limits of this one process, for trying out and for tests. */
  @IsOptional()
  @IsIn(['memory'], { message: 'memory, or unset where REDIS_URL is given' })
  STORE?: 'memory';

  /** How long a decision may wait for Redis before the route's failure mode decides, in ms. */
  @toInteger
  @IsInt({ message: 'milliseconds, 1 to 1000' })
  @Min(1, { message: 'milliseconds, 1 to 1000' })
  @Max(1000, { message: 'milliseconds, 1 to 1000' })
  REDIS_DEADLINE_MS = 5;

  @Matches(/^[A-Za-z0-9._-]{1,64}$/, { message: 'up to 64 of A-Z a-z 0-9 . _ -' })
  GATEWAY_ID = hostname()
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 64);

  /** Keys the digests of API keys; needed where the edge document names an API-key file. */
  @IsOptional()
  @MinLength(16, { message: 'a secret of at least 16 characters' })
  API_KEY_PEPPER?: string;

  @IsIn(RATE_LIMIT_DIALECTS, { message: RATE_LIMIT_DIALECTS.join(', ') })
  RATELIMIT_HEADERS: RateLimitDialect = 'draft-11';

  @IsIn(['error', 'warn', 'info', 'debug'], { message: 'error, warn, info or debug' })
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug' = 'info';
}

/** The environment is unusable; the message names each variable and what is allowed, never a value that may be secret. */
export class EnvError extends Error {
  override readonly name = 'EnvError';
}

/** @throws EnvError */
export function toGatewayEnv(raw: Readonly<Record<string, unknown>>): GatewayEnv {
  const known = Object.keys(new GatewayEnv()).concat('ADMIN_TOKEN', 'REDIS_URL', 'STORE', 'API_KEY_PEPPER');
  const given = Object.fromEntries(known.filter((name) => raw[name] !== undefined && raw[name] !== '').map((name) => [name, raw[name]]));
  const env = plainToInstance(GatewayEnv, given, { exposeDefaultValues: true });
  const problems = validateSync(env).map((error) => `${error.property}: allowed: ${Object.values(error.constraints ?? {})[0] ?? ''}`);
  const target = env.REDIS_URL === undefined ? undefined : parseRedisUrl(env.REDIS_URL);
  if (target !== undefined && 'problem' in target) problems.push(`REDIS_URL: ${target.problem}`);
  if (env.REDIS_URL === undefined && env.STORE === undefined) {
    problems.push('REDIS_URL: missing; give the Redis that holds the limits, or STORE=memory for one process on its own');
  }
  if (env.REDIS_URL !== undefined && env.STORE !== undefined) problems.push('STORE: memory and REDIS_URL exclude each other');
  if (problems.length > 0) throw new EnvError(`the environment cannot be used:\n  ${problems.join('\n  ')}`);
  return env;
}

/** Reads the process environment and `.env`. @throws EnvError */
export async function readGatewayEnv(): Promise<GatewayEnv> {
  let env: GatewayEnv | undefined;
  await ConfigModule.forRoot({
    validate: (raw) => {
      env = toGatewayEnv(raw);
      return raw;
    },
  });
  return env as unknown as GatewayEnv;
}
