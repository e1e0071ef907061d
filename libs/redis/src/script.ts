import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A Lua script with its includes resolved. Its text is the same for every call; what varies is KEYS and ARGV. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
}

const INCLUDE = /^--- @include "([\w/-]+)"$/gm;

/**
 * Loads `lua/<name>.lua` and puts each `--- @include "path"` in place, once each.
 * `replacements` swaps an include's text; tests use it to inject a clock.
 * @throws Error where a file is missing or includes form a circle.
 */
export function loadScript(name: string, replacements: Readonly<Record<string, string>> = {}): Script {
  const done = new Set<string>();
  const resolve = (text: string, parents: readonly string[]): string =>
    text.replace(INCLUDE, (_line, path: string) => {
      if (parents.includes(path)) throw new Error(`lua includes form a circle: ${[...parents, path].join(' → ')}`);
      if (done.has(path)) return '';
      done.add(path);
      return resolve(replacements[path] ?? read(path), [...parents, path]);
    });
  const source = resolve(read(name), [name]);
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}

function read(path: string): string {
  return readFileSync(fileURLToPath(import.meta.resolve(`#lua/${path}.lua`)), 'utf8');
}
