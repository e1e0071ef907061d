import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.js';
import { waitFor } from '../wait-for.js';
import { within } from '../within.js';
import { redisCommand } from './redis-command.js';
import { machineMeans } from './redis-means.js';
import { launchRedis, type RedisLaunch, type RedisProcess } from './redis-process.js';
import { provideRedis, type RedisProgram } from './redis-program.js';

export interface StartRedisOptions {
  /** More arguments for redis-server, e.g. `['--maxmemory', '1']`; they win over the usual ones. */
  readonly args?: readonly string[];
  /** A certain port, e.g. that of a server stopped before; a free one by default. */
  readonly port?: number;
}

/** A Redis of one's own, empty, on loopback; it ends with this process, whatever happens. */
export interface RedisServer {
  /** `redis://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** One command on a connection of its own, e.g. `command('CONFIG', 'SET', 'maxmemory', '1')`. @throws Error on an error reply */
  command(...args: readonly string[]): Promise<unknown>;
  /** Freezes it (SIGSTOP): connections stay, nothing answers. */
  pause(): void;
  resume(): void;
  /** Kills it, paused or not, and waits until it is gone. Calling it again does nothing. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 15_000;
const ATTEMPTS = 3;

let program: Promise<RedisProgram> | undefined;
let localProgram: Promise<RedisProgram> | undefined;

/**
 * Starts a redis-server, getting one first where there is none, and waits until it answers.
 * @throws NoRedisError where there is none to be had; Error with the server's output if it does not start.
 */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  program ??= provideRedis(machineMeans);
  const { port, args = [] } = options;
  return startInTurn(await program, { port, args: () => Promise.resolve(args) });
}

/** A server that is one of several. */
export interface PeerOptions {
  /** Asked anew for each attempt to start, so that it may name free ports. */
  readonly args: () => Promise<readonly string[]>;
  /** The text of its configuration file, which it may rewrite. */
  readonly config?: string;
}

/** As `startRedis`, but never in Docker, inside of which servers do not find each other on loopback. */
export async function startRedisPeer(options: PeerOptions): Promise<RedisServer> {
  localProgram ??= provideRedis({ ...machineMeans, dockerImage: () => Promise.resolve(undefined) });
  return startInTurn(await localProgram, options);
}

interface Start extends PeerOptions {
  readonly port?: number | undefined;
}

/** A free port may be taken by another process before the server has it: then on with another one. */
async function startInTurn(how: RedisProgram, { port, args, ...more }: Start): Promise<RedisServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(how, { port: port ?? (await freePort()), args: await args(), ...more });
    } catch (error) {
      if (port !== undefined || attempt === ATTEMPTS) throw error;
    }
  }
}

async function start(how: RedisProgram, launch: Omit<RedisLaunch, 'dir'>): Promise<RedisServer> {
  const { port } = launch;
  const dir = mkdtempSync(join(tmpdir(), 'esclusa-redis-'));
  const server = launchRedis(how, { ...launch, dir });
  const stop = async () => {
    server.signal('kill');
    await within(server.exited, 10_000);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await untilItAnswers(server, how, port);
    const pid = server.pid();
    let stopped: Promise<void> | undefined;
    return {
      url: `redis://127.0.0.1:${port}`,
      port,
      pid,
      command: (...words) => redisCommand(port, words),
      pause: () => {
        server.signal('pause');
      },
      resume: () => {
        server.signal('resume');
      },
      stop: () => (stopped ??= stop()),
    };
  } catch (error) {
    await stop();
    throw new Error(`redis-server did not start on port ${port}; its output:\n${server.output.quote()}`, { cause: error });
  }
}

async function untilItAnswers(server: RedisProcess, how: RedisProgram, port: number): Promise<void> {
  const state = { ended: false };
  void server.exited.then(() => (state.ended = true));
  const options = { what: 'redis-server answers', timeoutMs: START_TIMEOUT_MS };
  await waitFor(async () => state.ended || (await isThere(server, how, port)), options);
  if (state.ended) throw new Error('it ended at once');
}

/** Another server may sit on this port while ours is about to give up: the process id tells. In a container ids are others. */
async function isThere(server: RedisProcess, how: RedisProgram, port: number): Promise<boolean> {
  const info = String(await redisCommand(port, ['INFO', 'server']));
  return how.via === 'docker' || info.includes(`process_id:${server.pid()}\r`);
}
