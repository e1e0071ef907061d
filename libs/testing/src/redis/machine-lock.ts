import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { waitFor } from '../wait-for.js';

/** Longer than an installation over a slow line. */
const PATIENCE_MS = 5 * 60_000;

/**
 * Runs one at a time over all processes that name the same file, which holds the owner's process id. A lock whose owner is gone is
 * taken over.
 * @throws Error after five minutes.
 */
export async function withMachineLock<T>(file: string, act: () => Promise<T>): Promise<T> {
  await waitFor(() => take(file), { what: `the lock ${file}`, timeoutMs: PATIENCE_MS, intervalMs: 100 });
  try {
    return await act();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (isAbandoned(file)) rmSync(file, { force: true });
    return false;
  }
}

function isAbandoned(file: string): boolean {
  const owner = Number(readFileSync(file, 'utf8'));
  // Empty: just being written.
  if (!Number.isInteger(owner) || owner <= 0) return false;
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
