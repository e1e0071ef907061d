import { accessSync, constants, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runCommand } from '../run-command.js';
import { installRedisPackage } from './install-package.js';
import { withMachineLock } from './machine-lock.js';
import type { RedisMeans } from './redis-program.js';

const IMAGE = 'redis:7-alpine';

/** What this machine has. */
export const machineMeans: RedisMeans = {
  onPath: () => findOnPath('redis-server'),
  dockerImage: async () => {
    // The client alone is no engine: `docker info` fails, or hangs where the engine's socket does not answer.
    const engine = await runCommand('docker', ['info'], 3_000);
    if (!engine.ok) return undefined;
    if ((await runCommand('docker', ['image', 'inspect', IMAGE], 5_000)).ok) return IMAGE;
    return (await runCommand('docker', ['pull', '--quiet', IMAGE], 180_000)).ok ? IMAGE : undefined;
  },
  noPackagesBecause: () => {
    if (findOnPath('apt-get') === undefined) return 'this system has no apt-get';
    return process.getuid?.() === 0 ? undefined : 'packages can be installed by root only';
  },
  installPackage: installRedisPackage,
  alone: (act) => withMachineLock(join(tmpdir(), `esclusa-redis-install-${process.getuid?.() ?? 0}.lock`), act),
};

export function findOnPath(program: string, path = process.env.PATH ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find(isExecutableFile);
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
