import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { isPlainMapping, recordShapes } from './constraints.js';
import { DocumentError, show, type Problem } from './problem.js';
import { readYaml, type YamlFile } from './read-yaml.js';

type Class<T extends object> = new () => T;
type Path = readonly (string | number)[];

/** Collects what is wrong with one document. */
export class Findings {
  readonly problems: Problem[] = [];

  constructor(private readonly yaml: Pick<YamlFile, 'file' | 'lineOf'>) {}

  add(path: Path, found: string | undefined, allowed: string): void {
    this.problems.push({ file: this.yaml.file, line: this.yaml.lineOf(path), path: pathText(path), found, allowed });
  }

  /** @throws DocumentError where anything was found. */
  throwIfAny(): void {
    if (this.problems.length > 0) throw new DocumentError(this.problems);
  }
}

/** Reads and validates a document of one class; semantic checks of its own may add findings. @throws DocumentError */
export function readDocument<T extends object>(file: string, of: Class<T>, check: (document: T, findings: Findings) => void): T {
  const yaml = readYaml(file);
  const findings = new Findings(yaml);
  const document = toInstance(of, yaml.content, [], findings);
  findings.throwIfAny();
  check(document, findings);
  findings.throwIfAny();
  return document;
}

function toInstance<T extends object>(of: Class<T>, content: unknown, at: Path, findings: Findings): T {
  const instance = plainToInstance(of, content, { exposeDefaultValues: true });
  const errors = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
  reportErrors(errors, at, findings);
  for (const [property, shape] of recordShapes(of.prototype as object)) {
    const entries = (instance as Record<string, unknown>)[property];
    if (!isPlainMapping(entries)) continue;
    const read = new Map<string, object>();
    for (const [name, options] of Object.entries(entries)) {
      const path = [...at, property, name];
      if (!shape.names.test(name)) findings.add(path, show(name), shape.namesAllowed);
      else if (!isPlainMapping(options)) findings.add(path, show(options), 'a mapping');
      else read.set(name, toInstance(shape.of(), options, path, findings));
    }
    Object.assign(instance, { [property]: read });
  }
  return instance;
}

export function reportErrors(errors: readonly ValidationError[], at: Path, findings: Findings): void {
  for (const error of errors) report(error, at, findings);
}

function report(error: ValidationError, at: Path, findings: Findings): void {
  const isIndex = Array.isArray(error.target) && /^\d+$/.test(error.property);
  const path = [...at, isIndex ? Number(error.property) : error.property];
  const constraints = error.constraints ?? {};
  const [message] = Object.values(constraints);
  if (constraints.whitelistValidation !== undefined)
    findings.add(path, `the unknown field ${show(error.property) ?? ''}`, knownFields(error));
  else if (message !== undefined) findings.add(path, show(error.value), message);
  for (const child of error.children ?? []) report(child, path, findings);
}

function knownFields(error: ValidationError): string {
  const target = error.target?.constructor;
  if (target === undefined) return 'nothing';
  const metadata = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
  const later = new Set(metadata.filter((one) => one.name === 'laterVersion').map((one) => one.propertyName));
  const known = [...new Set(metadata.map((one) => one.propertyName))].filter((name) => !later.has(name));
  const near = known.find((name) => isNear(name, error.property));
  return `${known.join(', ')}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

/** At most two letters added, left out or changed. */
function isNear(a: string, b: string): boolean {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1]?.toLowerCase() === b[j - 1]?.toLowerCase() ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return (row[b.length] ?? 9) <= 2;
}

export function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}
