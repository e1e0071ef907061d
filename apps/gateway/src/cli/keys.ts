import { parseArgs } from 'node:util';
import { KeyFileError, MIN_PEPPER_LENGTH, apiKeyId, appendApiKey, createApiKey, digestApiKey, removeApiKey } from '#libs/identity';
import { readPepper } from './keys.env.js';
import { UsageError, runCli } from './run-cli.js';

const USAGE = `npm run keys -- create --tenant NAME [--user NAME] [--file config/api-keys.yaml]
npm run keys -- revoke --id k_… [--file config/api-keys.yaml]`;

await runCli(USAGE, [KeyFileError], async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      tenant: { type: 'string' },
      user: { type: 'string' },
      id: { type: 'string' },
      file: { type: 'string', default: 'config/api-keys.yaml' },
    },
  });
  switch (positionals.join(' ')) {
    case 'create':
      return create(values.file, values.tenant, values.user);
    case 'revoke':
      return revoke(values.file, values.id);
    default:
      throw new UsageError(positionals.length === 0 ? 'nothing to do' : `unknown: ${positionals.join(' ')}`);
  }
});

/** Prints the key, once, alone on standard output. */
async function create(file: string, tenant: string | undefined, user: string | undefined): Promise<number> {
  if (tenant === undefined || tenant === '') throw new UsageError('--tenant is missing');
  const pepper = await readPepper();
  if (pepper === undefined || pepper.length < MIN_PEPPER_LENGTH) {
    throw new UsageError(
      `API_KEY_PEPPER must be set (environment or .env) to a secret of at least ${MIN_PEPPER_LENGTH} characters, the gateway's own`,
    );
  }
  const key = createApiKey();
  const digest = digestApiKey(pepper, key);
  const id = apiKeyId(digest);
  appendApiKey(file, { id, digest, tenant, ...(user === undefined ? {} : { user }), createdAt: new Date().toISOString() });
  process.stderr.write(`${id} for tenant ${tenant} added to ${file}. This is the only time the key is shown:\n`);
  process.stdout.write(`${key}\n`);
  return 0;
}

function revoke(file: string, id: string | undefined): number {
  if (id === undefined) throw new UsageError('--id is missing');
  const found = removeApiKey(file, id);
  process.stderr.write(found ? `${id} taken out of ${file}; gateways refuse it within seconds\n` : `${file} has no key ${id}\n`);
  return found ? 0 : 1;
}
