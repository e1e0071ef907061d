import { fileURLToPath } from 'node:url';
import { spawnNode, type SpawnedNode } from '#libs/testing';

export interface GatewayProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly process: SpawnedNode;
}

export interface SpawnGatewayOptions {
  /** How far its clock is off. */
  readonly skewMs?: number;
  readonly nodeArgs?: readonly string[];
}

/** A gateway as it is deployed: the built program, its environment and nothing else. */
export async function spawnGateway(
  env: Readonly<Record<string, string>>,
  { skewMs = 0, nodeArgs = [] }: SpawnGatewayOptions = {},
): Promise<GatewayProcess> {
  const skew = fileURLToPath(new URL('./skewed-clock.js', import.meta.url));
  const process = spawnNode('dist/apps/gateway/src/main.js', {
    env: { ...env, LOG_LEVEL: 'info', SKEW_MS: String(skewMs) },
    nodeArgs: skewMs === 0 ? nodeArgs : [...nodeArgs, '--import', skew],
  });
  const [, url = '', adminUrl = ''] = await process.waitForLine(/gateway \S+ on (http:\/\/[^\s,]+), admin on (http:\/\/[^\s"]+)/);
  return { url, adminUrl, process };
}

/** An upstream in a process of its own, to be killed and started again on the same port. */
export async function startUpstreamProcess(port = 0, delayMs = 0): Promise<{ readonly port: number; readonly process: SpawnedNode }> {
  const process = spawnNode(fileURLToPath(new URL('./plain-upstream.js', import.meta.url)), {
    env: { PORT: String(port), DELAY_MS: String(delayMs) },
  });
  const [, listening = ''] = await process.waitForLine(/upstream on (\d+)/);
  return { port: Number(listening), process };
}
