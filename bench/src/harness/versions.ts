import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '#libs/testing';

/** What a program calls its version, by its `--version`; undefined where it cannot be run. */
export function programVersion(program: string, pattern: RegExp): string | undefined {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  return status === 0 ? (pattern.exec(stdout)?.[1] ?? 'of unknown version') : undefined;
}

/** Packages with the versions that are installed. */
export function packageVersions(names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const text = readFileSync(join(repositoryRoot, 'node_modules', name, 'package.json'), 'utf8');
    return `${name} ${(JSON.parse(text) as { readonly version: string }).version}`;
  });
}
