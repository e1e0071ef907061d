import type { SpawnedNode } from '#libs/testing';

/** What a Node process says of itself over some time. */
export interface RuntimeFigures {
  /** Of the time, how much the event loop was not waiting for something to do. */
  readonly busyShare: number;
  /** How late a timer of 1 ms was; its granularity is 1 ms too. */
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
  /** Of the time, how much the process stood still for the garbage collector. */
  readonly gcShare: number;
  readonly gcMaxMs: number;
}

export interface RuntimeWatch {
  begin(): Promise<void>;
  end(): Promise<RuntimeFigures>;
}

/** Node options that make a process able to be watched. */
export const WATCHED: readonly string[] = ['--import', new URL('./runtime-probe.js', import.meta.url).href];

/** The watch of a process that was started with WATCHED. */
export function runtimeWatch(node: SpawnedNode): RuntimeWatch {
  let lines = 0;
  const toggle = async (): Promise<string> => {
    process.kill(node.pid, 'SIGUSR2');
    const [, figures = ''] = await node.waitForLine(new RegExp(`^runtime ${(lines += 1)} (.*)`));
    return figures;
  };
  return {
    begin: async () => {
      await toggle();
    },
    end: async () => JSON.parse(await toggle()) as RuntimeFigures,
  };
}
