import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of nest-cli.json, whether this runs from source or from dist; no trailing slash. */
export const repositoryRoot: string = findUpwards(dirname(fileURLToPath(import.meta.url)));

function findUpwards(folder: string): string {
  if (existsSync(join(folder, 'nest-cli.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('libs/testing runs outside the repository: no nest-cli.json in any folder above it');
  return findUpwards(parent);
}
