import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { DocumentError, loadEdgeDocument, loadLimitsDocument } from '#libs/rules';

type Path = readonly (string | number)[];

const folder = mkdtempSync(join(tmpdir(), 'esclusa-'));
const documents = [
  { kind: 'edge', load: loadEdgeDocument, freeNames: ['upstreams'] },
  { kind: 'limits', load: loadLimitsDocument, freeNames: ['tenants'] },
] as const;

/** Every place in a document, the root left out. */
function places(node: unknown, at: Path = []): readonly Path[] {
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(node)
    ? node.map((part: unknown, i) => [i, part] as const)
    : typeof node === 'object' && node !== null
      ? Object.entries(node)
      : [];
  return entries.flatMap(([name, part]) => [[...at, name], ...places(part, [...at, name])]);
}

/** A copy with one place replaced, as JSON (which is YAML). */
function replaced(node: unknown, [first, ...rest]: Path, value: unknown): unknown {
  if (first === undefined) return value;
  if (Array.isArray(node)) return node.map((part: unknown, i) => (i === first ? replaced(part, rest, value) : part));
  const entries = Object.entries(node as Readonly<Record<string, unknown>>).map(([name, part]) => [
    name,
    name === first ? replaced(part, rest, value) : part,
  ]);
  return Object.fromEntries(entries) as unknown;
}

function outcome(load: (file: string) => unknown, content: unknown): string {
  const file = join(folder, 'mutated.yaml');
  writeFileSync(file, JSON.stringify(content));
  try {
    load(file);
    return 'accepted';
  } catch (error) {
    return error instanceof DocumentError ? error.message : `crashed: ${String(error)}`;
  }
}

describe.each(documents)('a good $kind document with one part changed', ({ kind, load, freeNames }) => {
  const fixture = fileURLToPath(new URL(`./fixtures/good-${kind}.yaml`, import.meta.url));
  const good: unknown = parse(readFileSync(fixture, 'utf8'));
  const all = places(good);

  it('is taken as it is', () => {
    expect(outcome(load, good)).toBe('accepted');
  });

  it('is taken or refused with problems, never a crash, whatever stands there', () => {
    const crashes = [[[]], { constructor: { a: [] } }, 'x', -1].flatMap((value) =>
      all.map((place) => outcome(load, replaced(good, place, value))).filter((told) => told.startsWith('crashed')),
    );
    expect(crashes).toEqual([]);
  });

  it('is refused where a part is null: empty never means unlimited, or a default', () => {
    for (const place of all)
      expect([place, outcome(load, replaced(good, place, null))]).toEqual([place, expect.stringContaining('found null')]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'surprise'])('is refused where a mapping has the field %s', (name) => {
    const mappings = all.filter((place) => {
      const node = place.reduce<unknown>((part, key) => (part as Record<string | number, unknown>)[key], good);
      return typeof node === 'object' && !Array.isArray(node) && !(place.length === 1 && freeNames.includes(String(place[0]) as never));
    });
    expect(mappings.length).toBeGreaterThan(5);
    for (const place of mappings) {
      const node = place.reduce<unknown>((part, key) => (part as Record<string | number, unknown>)[key], good);
      const odd = Object.fromEntries([...Object.entries(node as object), [name, { unlimited: true }]]) as unknown;
      expect([place, outcome(load, replaced(good, place, odd))]).toEqual([place, expect.stringContaining(`the unknown field "${name}"`)]);
    }
  });
});
