import { JSONSchema } from 'class-validator-jsonschema';

/** What a JSON Schema says about a property beyond what its validators tell. */
export function SchemaPart(part: Readonly<Record<string, unknown>>): PropertyDecorator {
  return (prototype, property) => {
    JSONSchema(part)(prototype, String(property));
  };
}
