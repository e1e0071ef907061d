import type { LoggerService } from '@nestjs/common';

type Step = readonly [what: string, run: () => unknown];

/** One function that runs the steps in order, once, however often it is called. A failing step is told and does not skip the rest. */
export function inOrder(logger: LoggerService, steps: readonly Step[]): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    for (const [what, step] of steps) {
      try {
        await step();
        logger.log(what, 'Shutdown');
      } catch (error) {
        logger.error(`${what}: ${error instanceof Error ? error.message : String(error)}`, 'Shutdown');
      }
    }
  };
  return () => (running ??= run());
}

/** Ends the process by `close` on SIGTERM and SIGINT; a second signal changes nothing. A close that hangs is ended after `graceMs`. */
export function closeOnSignals(logger: LoggerService, close: () => Promise<void>, graceMs = 10_000): void {
  let closing = false;
  const stop = (signal: string): void => {
    if (closing) return;
    closing = true;
    logger.log(`${signal}: stopping`, 'Shutdown');
    setTimeout(() => {
      logger.error(`not done after ${graceMs} ms: giving up`, 'Shutdown');
      process.exit(1);
    }, graceMs).unref();
    void close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
