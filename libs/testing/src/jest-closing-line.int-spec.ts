import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { repositoryRoot } from './repository-root.js';
import { spawnNode } from './spawn-node.js';

const folder = join(repositoryRoot, 'libs/testing');

/** Runs jest on the fixtures whose names match; its last line and exit code. */
async function runJest(pattern: string): Promise<readonly [string | undefined, number]> {
  const config = {
    rootDir: join(folder, 'test/fixtures/closing-line'),
    testMatch: ['**/*.test.js'],
    transform: {},
    reporters: ['default', join(folder, 'jest-closing-line.js')],
  };
  const args = ['--config', JSON.stringify(config), '--runInBand', '--no-cache', pattern];
  const jest = spawnNode('node_modules/jest/bin/jest.js', { args, nodeArgs: ['--experimental-vm-modules', '--no-warnings'] });
  const code = await jest.exited;
  return [jest.lines.at(-1), code];
}

describe("jest's closing line", () => {
  it('is the last line of a good run', async () => {
    expect(await runJest('good')).toEqual(['1 passed, 0 failed', 0]);
  });

  it('counts failed and skipped tests, and a file that cannot run as failed', async () => {
    expect(await runJest('.*')).toEqual(['3 passed, 2 failed, 1 skipped', 1]);
  });
});
