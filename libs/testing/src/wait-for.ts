import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** What is awaited, for the error: "the gateway is ready". */
  readonly what: string;
  /** 5000 by default. */
  readonly timeoutMs?: number;
  /** Pause between two looks; 10 by default. */
  readonly intervalMs?: number;
}

type Falsy = false | 0 | '' | null | undefined;

/**
 * Looks until `condition` returns something truthy, and returns that. A condition that throws is "not yet".
 * @throws Error naming what was awaited, with the condition's last error as its cause.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions): Promise<Exclude<T, Falsy>> {
  const { what, timeoutMs = 5000, intervalMs = 10 } = options;
  const endsAtMs = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as Exclude<T, Falsy>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= endsAtMs) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`, { cause });
    await sleep(intervalMs);
  }
}
