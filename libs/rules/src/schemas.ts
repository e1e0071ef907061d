import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { ValidationTypes } from 'class-validator';
import { validationMetadatasToSchemas } from 'class-validator-jsonschema';
import * as edgeClasses from './documents/edge-document.js';
import * as identityClasses from './documents/identity-options.js';
import * as fieldClasses from './documents/limit-fields.js';
import * as limitsClasses from './documents/limits-document.js';
import * as listenerClasses from './documents/listener-options.js';
import * as upstreamClasses from './documents/upstream-options.js';

type Schema = Record<string, unknown>;

const classes: readonly (new () => object)[] = [
  ...Object.values(edgeClasses),
  ...Object.values(identityClasses),
  ...Object.values(listenerClasses),
  ...Object.values(upstreamClasses),
  ...Object.values(limitsClasses),
  ...Object.values(fieldClasses),
];

/** JSON Schemas (draft-07) of both documents, made from the classes that validate them. */
export function documentSchemas(): { readonly edge: Schema; readonly limits: Schema } {
  const definitions = validationMetadatasToSchemas({
    classTransformerMetadataStorage: defaultMetadataStorage,
    refPointerPrefix: '#/definitions/',
    // What our own validators mean is said beside them; their TypeScript type says nothing.
    additionalConverters: { [ValidationTypes.CUSTOM_VALIDATION]: {} },
  }) as Record<string, Schema>;
  for (const of of classes) finish(definitions[of.name] ?? {}, new of());
  const of = (root: string, title: string): Schema => ({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    ...definitions[root],
    definitions: reachable(root, definitions),
  });
  return {
    edge: of(edgeClasses.EdgeDocument.name, 'Esclusa edge document'),
    limits: of(limitsClasses.LimitsDocument.name, 'Esclusa limits document'),
  };
}

/** Unknown fields are errors; a field with a default may be left out. */
function finish(schema: Schema, defaults: object): void {
  const given = new Set(Object.entries(defaults).flatMap(([name, value]) => (value === undefined ? [] : [name])));
  schema.additionalProperties = false;
  schema.required = ((schema.required as string[] | undefined) ?? []).filter((name) => !given.has(name));
}

/** The definitions that a root refers to, directly or not. */
function reachable(root: string, definitions: Record<string, Schema>): Record<string, Schema> {
  const found = new Map<string, Schema>();
  const visit = (name: string): void => {
    const text = JSON.stringify(definitions[name]);
    for (const [, next = ''] of text.matchAll(/"#\/definitions\/(\w+)"/g)) {
      const definition = definitions[next];
      if (found.has(next) || definition === undefined) continue;
      found.set(next, definition);
      visit(next);
    }
  };
  visit(root);
  return Object.fromEntries([...found].sort(([a], [b]) => a.localeCompare(b)));
}
