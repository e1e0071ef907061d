import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { OutputLines } from './output-lines.js';
import { runWhenThisProcessEnds } from './reaper.js';
import { repositoryRoot } from './repository-root.js';
import { waitForLine } from './wait-for-line.js';
import { within } from './within.js';

export interface SpawnNodeOptions {
  /** The whole environment of the process, but for PATH and HOME: nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Options of node itself, before the script. */
  readonly nodeArgs?: readonly string[];
  /** The repository's root by default. */
  readonly cwd?: string;
}

/** A node process; it is killed when this process ends, whatever happens. */
export interface SpawnedNode {
  readonly pid: number;
  /** What it has printed so far on both its outputs. */
  readonly lines: readonly string[];
  /** Its exit code; 128 + the signal's number when it died of one, as in a shell. */
  readonly exited: Promise<number>;
  /**
   * The first line, past or future, that matches. 15 s by default.
   * @throws Error with its output when it ends before, or when the time is over.
   */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  /**
   * Sends the signal (SIGTERM by default) and waits for the end, 15 s by default. A process that has ended already: its exit code.
   * @throws Error with its output when it has to be killed.
   */
  stop(signal?: NodeJS.Signals, timeoutMs?: number): Promise<number>;
  /** SIGKILL; waits for the end. Works on a stopped process too. */
  kill(): Promise<void>;
}

/** Starts a script (a path from the repository's root, or absolute) in a process of its own. Its standard input is closed. */
export function spawnNode(script: string, options: SpawnNodeOptions = {}): SpawnedNode {
  const { env: given = {}, args = [], nodeArgs = [], cwd = repositoryRoot } = options;
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...given };
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.on('error', () => undefined);
  if (child.pid === undefined) throw new Error(`${process.execPath} could not be started in ${cwd}`);

  const output = new OutputLines(child.stdout, child.stderr);
  const noLongerToReap = runWhenThisProcessEnds(['kill', '-KILL', String(child.pid)]);
  // 'close', not 'exit': only then is the output complete.
  const exited = new Promise<number>((resolve) => {
    child.once('close', (code, signal) => {
      noLongerToReap();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
  const fault = (what: string) => new Error(`${script} ${what}; its output:\n${output.quote()}`);
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };

  return {
    pid: child.pid,
    lines: output.all,
    exited,
    kill,
    waitForLine: (pattern, timeoutMs = 15_000) => waitForLine(output, { pattern, timeoutMs, exited, fault }),
    stop: async (signal = 'SIGTERM', timeoutMs = 15_000) => {
      child.kill(signal);
      const code = await within(exited, timeoutMs);
      if (code !== undefined) return code;
      await kill();
      throw fault(`was still running ${timeoutMs} ms after ${signal} and had to be killed`);
    },
  };
}
