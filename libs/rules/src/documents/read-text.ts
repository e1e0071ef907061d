import { readFileSync, statSync } from 'node:fs';
import { DocumentError } from './problem.js';

const MAX_MIB = 5;

/** A file's text. `fail` is called where it is no file, too large, unreadable or no UTF-8. */
export function readText(file: string, fail: (allowed: string, found: string) => never): string {
  let bytes: Buffer;
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return fail('a file', 'a folder or a special file');
    if (stat.size > MAX_MIB * 1024 * 1024) return fail(`a file of at most ${MAX_MIB} MiB`, `${stat.size} bytes`);
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    return fail('a file that can be read', error instanceof Error && 'code' in error ? String(error.code) : String(error));
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail('UTF-8', 'bytes that are no UTF-8');
  }
}
