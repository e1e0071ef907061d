import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { GatewayEnv } from './gateway.env.js';

const LEVELS: readonly LogLevel[] = ['fatal', 'error', 'warn', 'log', 'debug'];
const LAST: Readonly<Record<GatewayEnv['LOG_LEVEL'], LogLevel>> = { error: 'error', warn: 'warn', info: 'log', debug: 'debug' };

/** One JSON object per line. Nothing here ever sees a credential: no header, key or token is logged anywhere. */
export function makeLogger(env: GatewayEnv): ConsoleLogger {
  return new ConsoleLogger({
    json: true,
    colors: false,
    flattenParams: true,
    logLevels: LEVELS.slice(0, LEVELS.indexOf(LAST[env.LOG_LEVEL]) + 1),
  });
}
