import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModuleMetadata } from '@nestjs/common';
import { stringify } from 'yaml';
import { apiKeyId, appendApiKey, createApiKey, digestApiKey } from '#libs/identity';
import { startBackend, type Backend } from '#libs/testing';
import { toGatewayEnv } from '../../apps/gateway/src/gateway.env.js';
import { startGateway, type RunningGateway } from '../../apps/gateway/src/start-gateway.js';

export const PEPPER = 'a pepper for tests only';

type Json = Readonly<Record<string, unknown>>;

export interface Caller {
  readonly tenant: string;
  readonly user?: string;
}

export interface EdgeOptions {
  /** Routes of the edge document; the upstream is always `backend`. */
  readonly routes?: readonly Json[];
  /** Further top-level parts of the edge document. */
  readonly edge?: Json;
  readonly identity?: Json;
  readonly tenants?: Readonly<Record<string, Json>>;
  readonly policies: readonly Json[];
  readonly callers?: Readonly<Record<string, Caller>>;
  readonly env?: Json;
}

/** Files of one edge, in a folder of their own, and a key for each caller. */
export interface EdgeFiles {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly keys: Readonly<Record<string, string>>;
  readonly keyFile: string;
  remove(): void;
}

/** Writes both documents and the key file of an edge in front of `backendUrl`. */
export function writeEdge(backendUrl: string, options: EdgeOptions): EdgeFiles {
  const folder = mkdtempSync(join(tmpdir(), 'esclusa-test-'));
  const keyFile = join(folder, 'api-keys.yaml');
  const keys: Record<string, string> = {};
  writeFileSync(keyFile, 'version: 1\nkeys: []\n');
  for (const [name, caller] of Object.entries(options.callers ?? {})) {
    const key = createApiKey();
    const digest = digestApiKey(PEPPER, key);
    appendApiKey(keyFile, { id: apiKeyId(digest), digest, ...caller, createdAt: '2026-12-01T00:00:00Z' });
    keys[name] = key;
  }
  const routes = options.routes ?? [{ name: 'all', path: '/*' }];
  const edge = {
    version: 1,
    identity: { apiKeys: { header: 'x-api-key', file: keyFile }, ...options.identity },
    upstreams: { backend: { url: backendUrl, timeouts: { connectMs: 1000, headersMs: 5000, idleMs: 5000 } } },
    routes: routes.map((route) => ({ upstream: 'backend', ...route })),
    ...options.edge,
  };
  writeFileSync(join(folder, 'edge.yaml'), stringify(edge));
  const policies = options.policies.some(coversIdentified) ? options.policies : [...options.policies, WIDE_TENANT];
  writeFileSync(join(folder, 'limits.yaml'), stringify({ version: 1, revision: 7, tenants: options.tenants ?? {}, policies }));
  return {
    folder,
    keyFile,
    keys,
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      EDGE_CONFIG: join(folder, 'edge.yaml'),
      LIMITS_SOURCE: join(folder, 'limits.yaml'),
      API_KEY_PEPPER: PEPPER,
      LOG_LEVEL: 'error',
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface TestEdge {
  readonly gateway: RunningGateway;
  readonly backend: Backend;
  readonly url: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly files: EdgeFiles;
  close(): Promise<void>;
}

/** A gateway in this process, in memory unless `env` names a Redis, in front of a recording backend. */
export async function startEdge(
  options: EdgeOptions,
  features: NonNullable<ModuleMetadata['imports']> = [],
  handler?: Parameters<typeof startBackend>[0],
): Promise<TestEdge> {
  const backend = await startBackend(handler);
  const files = writeEdge(backend.url, options);
  const store = options.env?.REDIS_URL === undefined ? { STORE: 'memory' } : {};
  const gateway = await startGateway(toGatewayEnv({ ...files.env, ...store, ...options.env }), features);
  return {
    gateway,
    backend,
    url: gateway.url,
    keys: files.keys,
    files,
    close: async () => {
      await gateway.close();
      await backend.close();
      files.remove();
    },
  };
}

export const bucket = (capacity: number, refillPerSecond: number | string): Json => ({ tokenBucket: { capacity, refillPerSecond } });

/** A policy with one limit for everybody. */
export const policy = (name: string, per: readonly string[], limit: Json, more: Json = {}): Json => ({
  name,
  per,
  limits: [{ default: true, ...limit }],
  ...more,
});

/** Tests about addresses need not say what identified callers may do, but documents must. */
const WIDE_TENANT = policy('wide-tenant', ['tenant'], bucket(100_000, 1000));

const coversIdentified = ({ per, routes, callers }: Json): boolean =>
  routes === undefined && (callers === 'all' || ['tenant', 'user', 'apiKey'].some((name) => (per as string[]).includes(name)));

/** Wide enough never to matter. */
export const WIDE = [policy('wide-ip', ['ip'], bucket(100_000, 1000))];
