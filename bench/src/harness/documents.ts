import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeyId, appendApiKey, createApiKey, digestApiKey } from '#libs/identity';
import { stringify } from 'yaml';

export const BENCH_PEPPER = 'a pepper for benches only';
const ISSUER = 'https://login.bench.example';

/** Documents and credentials of a bench, in a folder of their own. */
export interface BenchFiles {
  readonly folder: string;
  readonly edge: string;
  /** Two policies for the bench tenant that never run out. */
  readonly limits: string;
  /** The same, but the bench tenant is unlimited: no store is asked. */
  readonly unlimited: string;
  readonly apiKey: string;
  readonly jwt: string;
  remove(): void;
}

const ENDLESS = { tokenBucket: { capacity: 9_000_000_000, refillPerSecond: 1_000_000 } };

/** Documents of a gateway that does nothing but forward, in a folder of their own. */
export interface ProxyFiles {
  readonly edge: string;
  /** A policy that never refuses. */
  readonly limits: string;
  /** The same, but the route is unlimited: no store is asked. */
  readonly unlimited: string;
  remove(): void;
}

/** One route for everybody, without identity. */
export function writeProxyFiles(backendUrl: string): ProxyFiles {
  const folder = mkdtempSync(join(tmpdir(), 'esclusa-bench-'));
  const write = (name: string, document: object): string => {
    writeFileSync(join(folder, name), stringify({ version: 1, ...document }));
    return join(folder, name);
  };
  // Anonymous buckets must fill within the hour.
  const endless = { default: true, tokenBucket: { capacity: 1_000_000_000, refillPerSecond: 1_000_000 } };
  const limits = (...more: readonly object[]) => ({
    policies: [{ name: 'requests', per: ['ip', 'route'], callers: 'all', limits: [endless, ...more] }],
  });
  return {
    edge: write('edge.yaml', {
      upstreams: { backend: { url: backendUrl } },
      routes: [{ name: 'bench', path: '/bench/*', upstream: 'backend', failureMode: 'closed' }],
    }),
    limits: write('limits.yaml', limits()),
    unlimited: write('unlimited.yaml', limits({ route: 'bench', unlimited: true })),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function limitsDocument(more: readonly object[]): string {
  const limits = [{ default: true, ...ENDLESS }, ...more];
  return stringify({
    version: 1,
    policies: [
      { name: 'requests', per: ['tenant', 'route'], limits },
      { name: 'daily', per: ['tenant'], limits },
      { name: 'per-address', per: ['ip'], limits: [{ default: true, tokenBucket: { capacity: 60, refillPerSecond: 20 } }] },
    ],
  });
}

export async function writeBenchFiles(backendUrl: string): Promise<BenchFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'esclusa-bench-'));
  const at = (name: string): string => join(folder, name);
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  writeFileSync(at('jwks.json'), JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] }));
  const apiKey = createApiKey();
  const digest = digestApiKey(BENCH_PEPPER, apiKey);
  appendApiKey(at('api-keys.yaml'), { id: apiKeyId(digest), digest, tenant: 'bench', createdAt: new Date().toISOString() });
  writeFileSync(
    at('edge.yaml'),
    stringify({
      version: 1,
      identity: {
        apiKeys: { header: 'x-api-key', file: 'api-keys.yaml' },
        jwt: [{ issuer: ISSUER, audience: 'bench', jwks: { file: 'jwks.json' }, algorithms: ['ES256'], claims: { tenant: 'org' } }],
      },
      upstreams: { backend: { url: backendUrl } },
      // Closed: a store that fails answers 503, which ends the run. An open route would be measured without its store, and look fast.
      routes: [{ name: 'bench', path: '/bench/*', upstream: 'backend', failureMode: 'closed' }],
    }),
  );
  writeFileSync(at('limits.yaml'), limitsDocument([]));
  writeFileSync(at('unlimited.yaml'), limitsDocument([{ tenant: 'bench', unlimited: true }]));
  const jwt = await new SignJWT({ org: 'bench' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setIssuer(ISSUER)
    .setAudience('bench')
    .setExpirationTime('2h')
    .sign(privateKey);
  return {
    folder,
    edge: at('edge.yaml'),
    limits: at('limits.yaml'),
    unlimited: at('unlimited.yaml'),
    apiKey,
    jwt,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
