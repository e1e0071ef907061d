import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { EnvError } from '../gateway.env.js';

export interface TlsFiles {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * Reads the PEM files that a part of the edge document names.
 * @param where that part, for errors: `listener.tls`
 * @throws EnvError where one cannot be read, or they cannot be used together
 */
export function tlsFiles(
  named: { readonly caFile?: string | undefined; readonly certFile?: string | undefined; readonly keyFile?: string | undefined },
  where: string,
): TlsFiles {
  const files: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {};
  for (const name of ['ca', 'cert', 'key'] as const) {
    const file = named[`${name}File`];
    if (file === undefined) continue;
    try {
      files[name] = readFileSync(file);
    } catch (error) {
      throw new EnvError(`EDGE_CONFIG: ${where}.${name}File: ${file} cannot be read: ${(error as Error).message}`);
    }
    if (!files[name].includes('-----BEGIN ')) throw new EnvError(`EDGE_CONFIG: ${where}.${name}File: ${file} is no PEM file`);
  }
  try {
    createSecureContext(files);
  } catch (error) {
    throw new EnvError(`EDGE_CONFIG: ${where}: the files cannot be used, or not together: ${(error as Error).message}`);
  }
  return files;
}
