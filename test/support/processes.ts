import { fileURLToPath } from 'node:url';
import { spawnNode, type SpawnedNode } from '#libs/testing';

export interface GatewayProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly process: SpawnedNode;
}

/** A gateway as it is deployed: the built program, its environment and nothing else. */
export async function spawnGateway(env: Readonly<Record<string, string>>, skewMs = 0): Promise<GatewayProcess> {
  const skew = fileURLToPath(new URL('./skewed-clock.js', import.meta.url));
  const process = spawnNode('dist/apps/gateway/src/main.js', {
    env: { ...env, LOG_LEVEL: 'info', SKEW_MS: String(skewMs) },
    nodeArgs: skewMs === 0 ? [] : ['--import', skew],
  });
  const [, url = '', adminUrl = ''] = await process.waitForLine(/gateway \S+ on (http:\/\/[^\s,]+), admin on (http:\/\/[^\s"]+)/);
  return { url, adminUrl, process };
}
