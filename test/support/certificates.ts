import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
  remove(): void;
}

/** A certificate that vouches for itself, for these DNS names; in files of its own. */
export async function makeCertificate(...names: readonly string[]): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: names[0] ?? 'test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2 as const, value })) },
    ],
  });
  const folder = mkdtempSync(join(tmpdir(), 'esclusa-certificate-'));
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return {
    certFile,
    keyFile,
    cert,
    key,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
