import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withMachineLock } from './machine-lock.js';

describe('withMachineLock', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'esclusa-lock-'));
    file = join(dir, 'lock');
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
  });

  it('lets one in at a time', async () => {
    let inside = 0;
    let most = 0;
    const visit = () =>
      withMachineLock(file, async () => {
        most = Math.max(most, ++inside);
        await nextTurn();
        inside--;
      });
    await Promise.all([visit(), visit(), visit()]);
    expect(most).toBe(1);
  });

  it('is free again after a failure', async () => {
    await expect(withMachineLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(file)).toBe(false);
  });

  it('takes over a lock whose owner is gone', async () => {
    // Linux has no process ids of this size.
    writeFileSync(file, '2147483646');
    expect(await withMachineLock(file, () => Promise.resolve('in'))).toBe('in');
  });
});
