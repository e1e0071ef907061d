import type { OutputLines } from './output-lines.js';

export interface LineWait {
  readonly pattern: RegExp;
  readonly timeoutMs: number;
  /** Resolves with the exit code when no more lines can come. */
  readonly exited: Promise<number>;
  /** Makes the error. */
  readonly fault: (what: string) => Error;
}

/** The first line, past or future, that matches. @throws what `fault` makes, at the end of the output or of the time. */
export function waitForLine(output: OutputLines, wait: LineWait): Promise<RegExpExecArray> {
  // A pattern with the g or y flag would start where it last matched.
  const pattern = new RegExp(wait.pattern.source, wait.pattern.flags.replace(/[gy]/g, ''));
  const early = output.all.map((line) => pattern.exec(line)).find((found) => found !== null);
  if (early !== undefined) return Promise.resolve(early);

  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      stop();
      reject(wait.fault(what));
    };
    const stopListening = output.onLine((line) => {
      const found = pattern.exec(line);
      if (found === null) return;
      stop();
      resolve(found);
    });
    const timer = setTimeout(() => {
      fail(`printed nothing like ${String(pattern)} within ${wait.timeoutMs} ms`);
    }, wait.timeoutMs);
    const stop = () => {
      clearTimeout(timer);
      stopListening();
    };
    void wait.exited.then((code) => {
      fail(`ended with code ${code} before it printed anything like ${String(pattern)}`);
    });
  });
}
