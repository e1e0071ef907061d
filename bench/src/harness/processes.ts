import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { spawnNode, waitFor, type SpawnedNode } from '#libs/testing';
import type { LoadOrder, LoadReport } from './load.js';
import type { ProxyVariant } from './proxy-worker.js';
import { WATCHED, runtimeWatch, type RuntimeWatch } from './runtime.js';

const worker = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

/** Binds a process and its threads to one core, where the machine can. @returns whether it could */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' }).status === 0;
}

/** CPU seconds that a process has used, all its threads, user and system. Linux only. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const TICKS_PER_SECOND = 100;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** How long a process's busiest thread has been ready to run and found its core taken, in ms. Linux only. */
export function coreWaitMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ').map(Number),
  );
  const [, waited = 0] = threads.reduce((busiest, thread) => ((thread[0] ?? 0) > (busiest[0] ?? 0) ? thread : busiest));
  return waited / 1e6;
}

/** A server on the loopback interface; it ends with this process. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

export interface WatchedProcess extends ServerProcess {
  readonly runtime: RuntimeWatch;
}

export async function startBackendProcess(core: number): Promise<ServerProcess & { readonly url: string }> {
  const child = fork(worker('backend-worker'), { stdio: 'inherit' });
  const pid = child.pid ?? 0;
  pin(pid, core);
  const port = await firstMessage<number>(child);
  return { pid, port, url: `http://127.0.0.1:${port}`, stop: disconnecting(child) };
}

/** Another proxy on Node, in front of an upstream. */
export async function startProxyProcess(
  variant: ProxyVariant,
  upstream: string,
  core: number,
  nodeArgs: readonly string[] = [],
): Promise<WatchedProcess> {
  const proxy = spawnNode(worker('proxy-worker'), { args: [variant, upstream], nodeArgs: [...WATCHED, ...nodeArgs] });
  pin(proxy.pid, core);
  const [, port] = await proxy.waitForLine(/^on http:\/\/[\d.]+:(\d+)/);
  return watched(proxy, Number(port));
}

/** Envoy with one worker thread, in front of a backend. */
export async function startEnvoyProcess(binary: string, backendPort: number, core: number): Promise<ServerProcess> {
  const child = fork(worker('envoy-worker'), [binary, String(backendPort)], { stdio: 'inherit' });
  const { pid, port } = await firstMessage<{ readonly pid: number; readonly port: number }>(child);
  pin(pid, core);
  return { pid, port, stop: disconnecting(child) };
}

function disconnecting(child: ChildProcess): () => Promise<void> {
  return async () => {
    if (!child.connected) return;
    child.disconnect();
    await once(child, 'exit');
  };
}

function watched(node: SpawnedNode, port: number): WatchedProcess {
  return {
    pid: node.pid,
    port,
    runtime: runtimeWatch(node),
    stop: async () => {
      await node.stop();
    },
  };
}

/** Runs one load from a process of its own. @throws Error where any answer was not a 200, or a request was left without one */
export async function load(order: LoadOrder, core: number): Promise<LoadReport> {
  const child = fork(worker('load-worker'), { stdio: 'inherit' });
  pin(child.pid ?? 0, core);
  child.send(order);
  const report = await firstMessage<LoadReport>(child);
  const others = Object.keys(report.statuses).some((status) => status !== '200');
  if (others || report.unanswered > 0) {
    throw new Error(`not every request was answered by 200: ${JSON.stringify(report)}`);
  }
  return report;
}

function firstMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => {
      resolve(message as T);
    });
    child.once('exit', (code) => {
      reject(new Error(`a bench process ended with ${code ?? 'a signal'} before it answered`));
    });
  });
}

/** The built gateway, as it is deployed, alone on a core. */
export async function startGatewayProcess(
  env: Readonly<Record<string, string>>,
  core: number,
  nodeArgs: readonly string[] = [],
): Promise<WatchedProcess> {
  const options = { env: { ...env, LOG_LEVEL: 'info' }, nodeArgs: [...WATCHED, ...nodeArgs] };
  const gateway = spawnNode('dist/apps/gateway/src/main.js', options);
  pin(gateway.pid, core);
  const [, port, adminUrl = ''] = await gateway.waitForLine(/on http:\/\/[\d.]+:(\d+), admin on (http:[^\s"]+)/);
  await waitFor(async () => (await fetch(`${adminUrl}/health/ready`)).ok, { what: 'the gateway' });
  return watched(gateway, Number(port));
}
