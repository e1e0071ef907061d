import { register } from 'node:module';

let registered = false;

/**
 * Imports a TypeScript module of this repository, named relative to this folder.
 *
 * Needed for jest's global setup and teardown: jest loads those by require, after a transform to CommonJS, where relative imports
 * that end in .js do not resolve.
 */
export async function importTypeScript(file) {
  if (!registered) register('./typescript-hooks.js', import.meta.url);
  registered = true;
  return import(new URL(file, import.meta.url).href);
}
