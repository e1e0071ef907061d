import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { spawnNode, waitFor } from '#libs/testing';
import type { LoadOrder, LoadReport } from './load.js';

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

/** A server of the bench's own; it ends with its parent. */
export interface WorkerProcess {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  stop(): void;
}

/** Our forwarding, or the peer's, in front of an upstream. */
export function startForwardProcess(variant: string, upstream: string, core: number): Promise<WorkerProcess> {
  return startWorker('forward-worker', [variant, upstream], core);
}

export function startBackendProcess(core: number): Promise<WorkerProcess> {
  return startWorker('backend-worker', [], core);
}

async function startWorker(name: string, args: readonly string[], core: number): Promise<WorkerProcess> {
  const child = fork(worker(name), args, { stdio: 'inherit' });
  const pid = child.pid ?? 0;
  pin(pid, core);
  const port = await firstMessage<number>(child);
  return {
    pid,
    port,
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      child.disconnect();
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

export interface GatewayProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** The built gateway, as it is deployed, alone on a core. */
export async function startGatewayProcess(
  env: Readonly<Record<string, string>>,
  core: number,
  nodeArgs: readonly string[] = [],
): Promise<GatewayProcess> {
  const gateway = spawnNode('dist/apps/gateway/src/main.js', { env: { ...env, LOG_LEVEL: 'info' }, nodeArgs });
  pin(gateway.pid, core);
  const [, port = '', adminUrl = ''] = await gateway.waitForLine(/on http:\/\/[\d.]+:(\d+), admin on (http:[^\s"]+)/);
  await waitFor(async () => (await fetch(`${adminUrl}/health/ready`)).ok, { what: 'the gateway' });
  return {
    pid: gateway.pid,
    port: Number(port),
    stop: async () => {
      await gateway.stop();
    },
  };
}
