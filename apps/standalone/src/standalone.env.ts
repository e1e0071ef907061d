import { randomBytes } from 'node:crypto';
import { ConfigModule } from '@nestjs/config';

/** What the standalone edge sets itself; everything else is the gateway's environment as documented. */
export interface StandaloneEnv {
  /** The gateway's variables as given, without a store: limits live in this process. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly pepper: string;
}

/** Reads the process environment and `.env`, once. */
export async function readStandaloneEnv(): Promise<StandaloneEnv> {
  let raw: Readonly<Record<string, unknown>> = {};
  await ConfigModule.forRoot({
    validate: (found) => {
      raw = found;
      return found;
    },
  });
  const given = Object.fromEntries(Object.entries(raw).filter(([name]) => name !== 'REDIS_URL'));
  return { given, pepper: randomBytes(24).toString('base64url') };
}
