import { isPlainMapping } from './constraints.js';
import { allowedIn, fieldsOf, type Field } from './fields.js';
import type { Findings, Path } from './findings.js';
import { nearest } from './nearest.js';
import { show } from './problem.js';

const MAX_NAME = 64;

/**
 * An instance that holds what its class knows of a mapping from a file, and nothing else: unknown fields, fields without a value, and
 * lists where a mapping belongs (or the reverse) are findings and left out. So an empty `unlimited:` lifts no limit, and a field called
 * `__proto__` or `constructor` is one more unknown field. Values are taken as they are; whether they are good is for the validators.
 */
export function shaped<T extends object>(of: new () => T, content: object, at: Path, findings: Findings): T {
  const fields = fieldsOf(of);
  const instance = new of();
  for (const [name, value] of Object.entries(content) as [string, unknown][]) {
    const path = [...at, name];
    const field = fields.get(name);
    if (field === undefined) findings.add(path, `the unknown field ${show(name.slice(0, MAX_NAME)) ?? ''}`, knownFields(fields, name));
    else if (value === null) findings.add(path, 'null', allowedIn(field));
    else if (value !== undefined) Object.assign(instance, { [name]: shapedValue(field, value, path, findings) });
  }
  return instance;
}

function shapedValue(field: Field, value: unknown, path: Path, findings: Findings): unknown {
  const { nested } = field;
  if (nested === undefined) return value;
  const mapping = (part: unknown, at: Path, element: boolean): object | undefined => {
    if (isPlainMapping(part)) return shaped(nested.of, part, at, findings);
    findings.add(at, show(part), allowedIn(field, element));
    return undefined;
  };
  if (!nested.list) return mapping(value, path, false);
  if (Array.isArray(value)) return value.map((part: unknown, i) => mapping(part, [...path, i], true));
  findings.add(path, show(value), allowedIn(field));
  return undefined;
}

function knownFields(fields: ReadonlyMap<string, Field>, given: string): string {
  const known = [...fields].filter(([, { later }]) => !later).map(([name]) => name);
  const near = nearest(known, given.slice(0, MAX_NAME));
  return `${known.join(', ')}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}
