import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { validationMetadatasToSchemas } from 'class-validator-jsonschema';
import { EdgeDocument } from './documents/edge-document.js';
import { LimitsDocument } from './documents/limits-document.js';

type Schema = Record<string, unknown>;

/** JSON Schemas (draft-07) of both documents, made from the classes that validate them. */
export function documentSchemas(): { readonly edge: Schema; readonly limits: Schema } {
  const definitions = validationMetadatasToSchemas({
    classTransformerMetadataStorage: defaultMetadataStorage,
    refPointerPrefix: '#/definitions/',
  }) as Record<string, Schema>;
  for (const definition of Object.values(definitions)) definition.additionalProperties = false;
  const of = (root: string, title: string): Schema => ({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    ...definitions[root],
    definitions: reachable(root, definitions),
  });
  return { edge: of(EdgeDocument.name, 'Esclusa edge document'), limits: of(LimitsDocument.name, 'Esclusa limits document') };
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
