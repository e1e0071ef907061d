import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { ValidationTypes, getMetadataStorage, type ValidationArguments, type ValidatorConstraintInterface } from 'class-validator';

export type Class = new () => object;
export type FieldRule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** What a class's decorators say about one field of a document. */
export interface Field {
  readonly rules: readonly FieldRule[];
  /** A part of the format that this version refuses. */
  readonly later: boolean;
  /** Where the field holds one or a list of another class's mappings. */
  readonly nested: { readonly of: Class; readonly list: boolean } | undefined;
}

const known = new WeakMap<Class, ReadonlyMap<string, Field>>();

/** The fields of a class by name. */
export function fieldsOf(of: Class): ReadonlyMap<string, Field> {
  const fields = known.get(of) ?? readFields(of);
  known.set(of, fields);
  return fields;
}

function readFields(of: Class): ReadonlyMap<string, Field> {
  const all = getMetadataStorage().getTargetValidationMetadatas(of, '', false, false);
  const fields = new Map<string, Field>();
  for (const { propertyName: name } of all) {
    if (fields.has(name)) continue;
    const rules = all.filter(({ propertyName }) => propertyName === name);
    fields.set(name, { rules, later: rules.some((rule) => rule.name === 'laterVersion'), nested: nestedIn(of, name) });
  }
  return fields;
}

function nestedIn(of: Class, name: string): Field['nested'] {
  const type = defaultMetadataStorage.findTypeMetadata(of, name) as ReturnType<typeof defaultMetadataStorage.findTypeMetadata> | undefined;
  return type && { of: type.typeFunction() as Class, list: type.reflectedType === Array };
}

/** The validator behind a rule; undefined for rules that class-validator knows by itself, such as nesting. */
export function validatorOf(rule: FieldRule): ValidatorConstraintInterface | undefined {
  if (rule.type !== ValidationTypes.CUSTOM_VALIDATION) return undefined;
  return getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls)[0]?.instance;
}

/** What a field takes, in words; with `element`, what each of its elements is. */
export function allowedIn(field: Field, element = false): string {
  const nesting = field.rules.filter((rule) => rule.type === ValidationTypes.NESTED_VALIDATION);
  const others = field.rules.filter((rule) => rule.type === ValidationTypes.CUSTOM_VALIDATION);
  const lists = others.filter((rule) => rule.name === 'isArray');
  const order = field.nested?.list === true && !element ? [...lists, ...others] : [...nesting, ...others];
  return order.map(messageOf).find((message) => message !== undefined) ?? 'a value';
}

const NO_VALUE: ValidationArguments = { value: undefined, constraints: [], targetName: '', object: {}, property: '' };

function messageOf(rule: FieldRule): string | undefined {
  const message = rule.message as FieldRule['message'] | undefined;
  // Without a text of ours there is the library's, a template.
  return typeof message === 'string' && !message.includes('$property') ? message : validatorOf(rule)?.defaultMessage?.(NO_VALUE);
}
