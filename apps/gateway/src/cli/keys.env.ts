import { ConfigModule } from '@nestjs/config';

/** The pepper from the environment or `.env`; undefined where there is none. */
export async function readPepper(): Promise<string | undefined> {
  let pepper: unknown;
  await ConfigModule.forRoot({
    validate: (raw) => {
      pepper = raw.API_KEY_PEPPER;
      return raw;
    },
  });
  return typeof pepper === 'string' && pepper !== '' ? pepper : undefined;
}
