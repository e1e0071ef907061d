import 'reflect-metadata';
import { ConfigModule } from '@nestjs/config';
import { plainToInstance, Transform } from 'class-transformer';
import { IsInt, IsObject, IsString, Max, Min, MinLength, validateSync } from 'class-validator';
import { parseServiceRange, type ServiceRange } from './service-times.js';

const toInteger = Transform(({ value }: { value: unknown }) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value));
const toServiceRange = Transform(({ value }: { value: unknown }) =>
  typeof value === 'string' ? (parseServiceRange(value) ?? value) : value,
);
const port = 'a port, 0 to 65535 (0: any free one)';
const slots = 'a whole number, 1 to 1000';

/** Everything the demo backends read from their environment (`.env` is read too), once, at start. */
export class DemoBackendsEnv {
  @IsString({ message: 'an address to listen on' })
  @MinLength(1, { message: 'an address to listen on' })
  HOST = '127.0.0.1';

  @toInteger
  @IsInt({ message: port })
  @Min(0, { message: port })
  @Max(65535, { message: port })
  ORDERS_PORT = 9101;

  @toInteger
  @IsInt({ message: port })
  @Min(0, { message: port })
  @Max(65535, { message: port })
  SEARCH_PORT = 9102;

  /** How many searches run at a time. */
  @toInteger
  @IsInt({ message: slots })
  @Min(1, { message: slots })
  @Max(1000, { message: slots })
  SEARCH_SLOTS = 8;

  /** How long a search takes: `40`, or `20-60`. */
  @toServiceRange
  @IsObject({ message: 'milliseconds, or a range of them such as 20-60' })
  SEARCH_SERVICE_MS: ServiceRange = { minMs: 20, maxMs: 60 };
}

/** The environment is unusable; the message names each variable and what is allowed. */
export class EnvError extends Error {
  override readonly name = 'EnvError';
}

/** Unset and empty variables get their defaults. @throws EnvError */
export function toDemoBackendsEnv(raw: Readonly<Record<string, unknown>>): DemoBackendsEnv {
  const names = Object.keys(new DemoBackendsEnv()).filter((name) => raw[name] !== undefined && raw[name] !== '');
  const given = Object.fromEntries(names.map((name) => [name, raw[name]]));
  const env = plainToInstance(DemoBackendsEnv, given, { exposeDefaultValues: true });
  const problems = validateSync(env).map((error) => `${error.property}: allowed: ${Object.values(error.constraints ?? {})[0] ?? ''}`);
  if (problems.length > 0) throw new EnvError(`the environment cannot be used:\n  ${problems.join('\n  ')}`);
  return env;
}

/** Reads the process environment and `.env`. @throws EnvError */
export async function readDemoBackendsEnv(): Promise<DemoBackendsEnv> {
  let raw: Readonly<Record<string, unknown>> = {};
  await ConfigModule.forRoot({
    validate: (found) => {
      raw = found;
      return found;
    },
  });
  return toDemoBackendsEnv(raw);
}
