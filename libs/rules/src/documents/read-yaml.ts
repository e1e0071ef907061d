import { readFileSync, statSync } from 'node:fs';
import { LineCounter, isMap, parseAllDocuments, type Document } from 'yaml';
import { DocumentError } from './problem.js';

const MAX_MIB = 5;
const BOM = '\ufeff';

/** A YAML file's content and where in the file its parts stand. */
export interface YamlFile {
  readonly file: string;
  readonly content: unknown;
  /** The line of a part, or of the nearest part around it. */
  lineOf(path: readonly (string | number)[]): number | undefined;
}

/** @throws DocumentError where the file is no single, non-empty YAML mapping in UTF-8 without a byte-order mark. */
export function readYaml(file: string): YamlFile {
  const fail = (allowed: string, found?: string, line?: number): never => {
    throw new DocumentError([{ file, line, path: '', found: found ?? 'something else', allowed }]);
  };
  const text = readText(file, fail);
  if (text.startsWith(BOM)) fail('UTF-8 without a byte-order mark', 'a byte-order mark');
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true, logLevel: 'silent' });
  const [document] = documents;
  if (!Array.isArray(documents) || document === undefined || (document.contents === null && document.errors.length === 0)) {
    return fail('a YAML mapping', 'an empty document');
  }
  if (documents.length > 1) fail('one YAML document', `${documents.length} documents in one file`);
  const [error] = document.errors;
  if (error !== undefined) fail('YAML', error.message.split('\n', 1)[0], error.linePos?.[0].line);
  if (!isMap(document.contents)) fail('a YAML mapping', 'no mapping');
  return { file, content: toContent(document, fail), lineOf: (path) => lineOf(document, lines, path) };
}

function readText(file: string, fail: (allowed: string, found?: string) => never): string {
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

function toContent(document: Document, fail: (allowed: string, found?: string) => never): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return fail('YAML with few aliases', error instanceof Error ? error.message : String(error));
  }
}

function lineOf(document: Document, lines: LineCounter, path: readonly (string | number)[]): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true) as { range?: readonly number[] } | undefined;
    const start = node?.range?.[0];
    if (start !== undefined) return lines.linePos(start).line;
  }
  return undefined;
}
