import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { apiKeyId, appendApiKey, createApiKey, digestApiKey } from '#libs/identity';

/** A key that may be tried, shown once and valid as long as this process. */
export interface DemoKey {
  readonly tenant: string;
  readonly tier: string;
  readonly key: string;
}

export interface DemoConfig {
  readonly edgeFile: string;
  readonly keys: readonly DemoKey[];
  remove(): void;
}

/** The sample edge document, pointed at these upstreams, with a fresh key for one tenant of each tier. */
export function writeDemoConfig(
  edgeSample: string,
  limitsSample: string,
  upstreams: Readonly<Record<string, string>>,
  pepper: string,
): DemoConfig {
  const folder = mkdtempSync(join(tmpdir(), 'esclusa-'));
  const edge = parseDocument(readFileSync(edgeSample, 'utf8'));
  for (const [name, url] of Object.entries(upstreams)) edge.setIn(['upstreams', name, 'url'], url);
  edge.setIn(['identity', 'apiKeys', 'file'], join(folder, 'api-keys.yaml'));
  const edgeFile = join(folder, 'edge.yaml');
  writeFileSync(edgeFile, edge.toString());
  const keys = tenantsByTier(limitsSample).map(([tier, tenant]) => ({ tenant, tier, key: createApiKey() }));
  for (const { key, tenant } of keys) {
    const digest = digestApiKey(pepper, key);
    appendApiKey(join(folder, 'api-keys.yaml'), { id: apiKeyId(digest), digest, tenant, createdAt: new Date().toISOString() });
  }
  return {
    edgeFile,
    keys,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first tenant of each tier that the limits document names. */
function tenantsByTier(limitsSample: string): (readonly [tier: string, tenant: string])[] {
  const document = parseDocument(readFileSync(limitsSample, 'utf8')).toJS() as { tenants: Record<string, { tier: string }> };
  const byTier = new Map<string, string>();
  for (const [tenant, { tier }] of Object.entries(document.tenants)) if (!byTier.has(tier)) byTier.set(tier, tenant);
  return [...byTier];
}
