import type { RedisServer } from './start-redis.js';

/** One of several servers that know each other. */
export interface RedisNode {
  readonly port: number;
  readonly pid: number;
  readonly state: 'running' | 'paused' | 'killed';
  /** One command on a connection of its own; no redirection is followed. @throws Error on an error reply, MOVED and ASK too */
  command(...args: readonly string[]): Promise<unknown>;
  /** Freezes it (SIGSTOP): connections stay, nothing answers. */
  pause(): void;
  resume(): void;
  /** SIGKILL, also while paused; waits until it is gone. It does not come back. */
  kill(): Promise<void>;
}

export function redisNode(server: RedisServer): RedisNode {
  let state: RedisNode['state'] = 'running';
  return {
    port: server.port,
    pid: server.pid,
    command: (...args) => server.command(...args),
    get state() {
      return state;
    },
    pause: () => {
      if (state !== 'running') return;
      state = 'paused';
      server.pause();
    },
    resume: () => {
      if (state !== 'paused') return;
      server.resume();
      state = 'running';
    },
    kill: async () => {
      state = 'killed';
      await server.stop();
    },
  };
}

/** Those that can be asked. */
export function running<Node extends RedisNode>(nodes: readonly Node[]): readonly Node[] {
  return nodes.filter(({ state }) => state === 'running');
}

/** Starts several at once; if one does not start, the others are ended. @throws Error of the first that did not start */
export async function startTogether(count: number, start: () => Promise<RedisServer>): Promise<readonly RedisServer[]> {
  const starts = Array.from({ length: count }, start);
  const results = await Promise.allSettled(starts);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return Promise.all(starts);
  await Promise.all(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.stop()] : [])));
  throw failed.reason;
}
