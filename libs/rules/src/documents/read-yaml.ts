import { LineCounter, isAlias, isMap, isNode, isScalar, parseAllDocuments, visit, type Document } from 'yaml';
import { DocumentError } from './problem.js';
import { readText } from './read-text.js';

const BOM = '\ufeff';
const MAX_ALIASES = 100;

/** A YAML file's content and where in the file its parts stand. */
export interface YamlFile {
  readonly file: string;
  readonly content: object;
  /** The line of a part, or of the nearest part around it. */
  lineOf(path: readonly (string | number)[]): number | undefined;
}

/** @throws DocumentError where the file is no single, non-empty YAML mapping in UTF-8 without a byte-order mark. */
export function readYaml(file: string): YamlFile {
  const fail = (allowed: string, found: string, line?: number): never => {
    throw new DocumentError([{ file, line, path: '', found, allowed }]);
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
  // A warning, such as one of an unknown tag, is a part that was read otherwise than it was written.
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) fail('YAML', error.message.split(/ at line \d|\n/, 1)[0] ?? '', error.linePos?.[0].line);
  if (!isMap(document.contents)) fail('a YAML mapping', 'no mapping');
  checkNodes(document, (allowed, found, offset) => fail(allowed, found, offset === undefined ? undefined : lines.linePos(offset).line));
  return { file, content: toContent(document, fail), lineOf: (path) => lineOf(document, lines, path) };
}

/** Names are text as written, since `0123:` would be the tenant 123; nothing contains itself. */
function checkNodes(document: Document, fail: (allowed: string, found: string, offset: number | undefined) => never): void {
  visit(document, {
    Pair: (_key, { key }) => {
      if (isScalar(key) && typeof key.value === 'string') return;
      const name = isScalar(key) ? (key.source ?? String(key.value)) : 'that is a list, a mapping or an alias';
      fail(
        'names that are text: in quotes where they look like something else',
        `the name ${name}`,
        isNode(key) ? key.range?.[0] : undefined,
      );
    },
    Alias: (_key, alias, ancestors) => {
      const target = alias.resolve(document);
      if (target !== undefined && !isAlias(target) && ancestors.includes(target))
        fail('parts that do not contain themselves', `*${alias.source} inside of &${alias.source}`, alias.range?.[0]);
    },
  });
}

function toContent(document: Document, fail: (allowed: string, found: string) => never): object {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as object;
  } catch (error) {
    return fail(`YAML with at most ${MAX_ALIASES} aliases`, error instanceof Error ? error.message : String(error));
  }
}

function lineOf(document: Document, lines: LineCounter, path: readonly (string | number)[]): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const start = startOf(document, path.slice(0, length));
    if (start !== undefined) return lines.linePos(start).line;
  }
  return undefined;
}

/** Where a field's name stands, or else its value. */
function startOf(document: Document, path: readonly (string | number)[]): number | undefined {
  const parent: unknown = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true);
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  const node: unknown = pair?.key ?? document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}
