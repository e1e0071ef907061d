// Lets node import the TypeScript files of this repository: what jest's transform does for tests, for what runs outside of them.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const swc = JSON.parse(readFileSync(new URL('../../.swcrc', import.meta.url), 'utf8'));

export function resolve(specifier, context, next) {
  if (!context.parentURL?.endsWith('.ts')) return next(specifier, context);
  const file = specifier.startsWith('.') ? specifier.replace(/\.js$/, '.ts') : specifier;
  return next(file, { ...context, conditions: ['source', ...context.conditions] });
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), { ...swc, filename, swcrc: false, sourceMaps: 'inline' });
  return { format: 'module', shortCircuit: true, source: code };
}
