import { types } from 'node:util';
import { isSeq, parseDocument, type Document } from 'yaml';
import { KeyFileError, parseKeyFile, type ApiKeyEntry } from './api-key-file.js';
import { rewriteFile } from './rewrite-file.js';

/**
 * Adds a key; the file is made if there is none, and its comments stay. Atomic: readers see the old file or the new one.
 * @throws KeyFileError where the file or the entry is bad, or the file cannot be written
 */
export function appendApiKey(file: string, entry: ApiKeyEntry): void {
  change(file, (found) => {
    const text = found ?? 'version: 1\nkeys: []\n';
    parseKeyFile(file, text);
    const document = parseDocument(text);
    const keys = document.get('keys');
    if (isSeq(keys)) keys.flow = false;
    document.addIn(['keys'], document.createNode(entry));
    return show(document);
  });
}

/**
 * Takes a key out, which revokes it. Atomic.
 * @returns whether it was there
 * @throws KeyFileError where the file is missing or bad, or cannot be written
 */
export function removeApiKey(file: string, id: string): boolean {
  return change(file, (found) => {
    if (found === undefined) throw new KeyFileError(`${file}: there is no such file`);
    const index = parseKeyFile(file, found).findIndex((entry) => entry.id === id);
    if (index < 0) return undefined;
    const document = parseDocument(found);
    document.deleteIn(['keys', index]);
    return show(document);
  });
}

/** @returns whether there was anything to change. What would not be read again is not written. */
function change(file: string, edit: (text: string | undefined) => string | undefined): boolean {
  let changed = false;
  try {
    rewriteFile(file, (found) => {
      const text = edit(found);
      if (text !== undefined) parseKeyFile(file, text);
      changed = text !== undefined;
      return text;
    });
  } catch (error) {
    if (error instanceof KeyFileError || !types.isNativeError(error)) throw error;
    throw new KeyFileError(`${file}: cannot be changed: ${error.message}`, { cause: error });
  }
  return changed;
}

/** Long names stay on their line. */
function show(document: Document): string {
  return document.toString({ lineWidth: 0 });
}
