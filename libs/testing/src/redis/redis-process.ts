import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OutputLines } from '../output-lines.js';
import { runWhenThisProcessEnds, unrefPipe } from '../reaper.js';
import type { RedisProgram } from './redis-program.js';

export interface RedisLaunch {
  readonly port: number;
  /** A temporary folder of this server's own. */
  readonly dir: string;
  readonly args: readonly string[];
  /** The text of a configuration file; not in Docker. */
  readonly config?: string;
}

/** A started server, which may not answer yet. */
export interface RedisProcess {
  readonly exited: Promise<void>;
  readonly output: OutputLines;
  /** Of the server itself, also where Docker runs it. */
  pid(): number;
  signal(name: 'pause' | 'resume' | 'kill'): void;
}

/** Nothing is kept: no snapshots, no log of writes. */
function serverArgs(program: RedisProgram, { port, dir, args }: RedisLaunch): readonly string[] {
  // Inside a container the published port arrives on another interface, and not from a local address.
  const place = program.via === 'docker' ? ['--bind', '0.0.0.0', '--protected-mode', 'no'] : ['--bind', '127.0.0.1', '--dir', dir];
  const debug = ['--enable-debug-command', program.via === 'docker' ? 'yes' : 'local'];
  return ['--port', String(port), ...place, '--save', '', '--appendonly', 'no', ...debug, ...args];
}

export function launchRedis(program: RedisProgram, launch: RedisLaunch): RedisProcess {
  return program.via === 'docker' ? launchContainer(program.image, launch) : launchBinary(program.path, launch);
}

function launchBinary(path: string, launch: RedisLaunch): RedisProcess {
  const file = join(launch.dir, 'redis.conf');
  if (launch.config !== undefined) writeFileSync(file, launch.config);
  const args = [...(launch.config === undefined ? [] : [file]), ...serverArgs({ via: 'binary', path }, launch)];
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid === undefined) {
    child.on('error', () => undefined);
    throw new Error(`${path} could not be started`);
  }
  const signals = { pause: 'SIGSTOP', resume: 'SIGCONT', kill: 'SIGKILL' } as const;
  return {
    ...watch(child, ['sh', '-c', 'kill -KILL "$1"; rm -rf "$2"', 'reaper', String(pid), launch.dir]),
    pid: () => pid,
    signal: (name) => void child.kill(signals[name]),
  };
}

function launchContainer(image: string, launch: RedisLaunch): RedisProcess {
  const name = `esclusa-test-redis-${process.pid}-${launch.port}`;
  const published = ['-p', `127.0.0.1:${launch.port}:${launch.port}`];
  const args = ['run', '--rm', '--name', name, ...published, image, 'redis-server', ...serverArgs({ via: 'docker', image }, launch)];
  const child = spawn('docker', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const docker = (...words: readonly string[]) => execFileSync('docker', words, { timeout: 10_000, encoding: 'utf8' }).trim();
  return {
    ...watch(child, ['sh', '-c', 'docker rm -f "$1"; rm -rf "$2"', 'reaper', name, launch.dir]),
    pid: () => Number(docker('inspect', '--format', '{{.State.Pid}}', name)),
    signal: (how) => {
      if (how === 'kill') docker('rm', '-f', name);
      else docker(how === 'pause' ? 'pause' : 'unpause', name);
    },
  };
}

/** A server never keeps this process alive: whoever forgets one gets it reaped, not a hanging test run. */
function watch(child: ChildProcess, reap: readonly string[]): Pick<RedisProcess, 'exited' | 'output'> {
  const outputs = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const output = new OutputLines(...outputs);
  const noLongerToReap = runWhenThisProcessEnds(reap);
  child.unref();
  outputs.forEach(unrefPipe);
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      noLongerToReap();
      resolve();
    };
    child.once('exit', end).once('error', end);
  });
  return { exited, output };
}
