import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { documentSchemas } from '#libs/rules';
import { runCli } from './run-cli.js';

const folder = fileURLToPath(new URL('../../../../../docs/schemas/', import.meta.url));

await runCli('npm run schemas [-- --check]', [], () => {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  let stale = false;
  for (const [name, schema] of Object.entries(documentSchemas())) {
    const file = `${folder}${name}.schema.json`;
    const text = `${JSON.stringify(schema, undefined, 2)}\n`;
    if (!values.check) writeFileSync(file, text);
    else if (readOrEmpty(file) !== text) {
      process.stderr.write(`${file} is stale: npm run schemas\n`);
      stale = true;
    }
  }
  return stale ? 1 : 0;
});

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
