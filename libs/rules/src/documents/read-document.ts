import 'reflect-metadata';
import { validateSync, type ValidationError } from 'class-validator';
import { isPlainMapping, recordShapes } from './constraints.js';
import { fieldsOf, validatorOf, type Class } from './fields.js';
import { Findings, type Path } from './findings.js';
import { show } from './problem.js';
import { readYaml } from './read-yaml.js';
import { shaped } from './shape.js';

/** Reads and validates a document of one class; semantic checks of its own may add findings. @throws DocumentError */
export function readDocument<T extends object>(file: string, of: new () => T, check: (document: T, findings: Findings) => void): T {
  const yaml = readYaml(file);
  const findings = new Findings(yaml);
  const document = toInstance(of, yaml.content, [], findings);
  findings.throwIfAny();
  check(document, findings);
  findings.throwIfAny();
  return document;
}

/** An instance of the class, usable only where nothing was found. Nothing is ever coerced. */
export function toInstance<T extends object>(of: new () => T, content: object, at: Path, findings: Findings): T {
  const instance = shaped(of, content, at, findings);
  for (const error of validateSync(instance, { forbidUnknownValues: true })) report(of, error, at, findings);
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

function report(of: Class, error: ValidationError, at: Path, findings: Findings): void {
  const isIndex = Array.isArray(error.target) && /^\d+$/.test(error.property);
  const path = [...at, isIndex ? Number(error.property) : error.property];
  const constraints: Readonly<Record<string, string>> = error.constraints ?? {};
  const message = constraints.isArray ?? Object.values(constraints)[0];
  if (message !== undefined && !findings.has(path)) {
    const elements = badElements(of, error);
    for (const { i, element, rule } of elements) findings.add([...path, i], show(element), constraints[rule] ?? message);
    if (elements.length === 0) findings.add(path, show(error.value), message);
  }
  for (const child of error.children ?? []) report((child.target?.constructor as Class | undefined) ?? of, child, path, findings);
}

interface BadElement {
  readonly i: number;
  readonly element: unknown;
  /** The name of the rule that refuses it. */
  readonly rule: string;
}

/** The elements of a list that a rule for each of them refuses; none where the list itself is at fault. */
function badElements(of: Class, { value: list, property, target = {} }: ValidationError): readonly BadElement[] {
  if (!Array.isArray(list)) return [];
  const rules = (fieldsOf(of).get(property)?.rules ?? []).filter((rule) => rule.each);
  return list.flatMap((element: unknown, i) => {
    const rule = rules.find((one) => {
      const args = { value: element, constraints: one.constraints as unknown[], targetName: of.name, object: target, property };
      return validatorOf(one)?.validate(element, args) === false;
    });
    return rule === undefined ? [] : [{ i, element, rule: rule.name ?? '' }];
  });
}
