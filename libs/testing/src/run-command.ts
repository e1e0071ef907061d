import { execFile } from 'node:child_process';

export interface CommandResult {
  readonly ok: boolean;
  /** Both outputs together, without the last line break. */
  readonly output: string;
}

/** Runs a program without a shell and without input. A failure, a missing program or a time-out is a value. */
export function runCommand(
  file: string,
  args: readonly string[],
  timeoutMs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024 };
    const child = execFile(file, [...args], options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trimEnd();
      const timedOut = error?.killed === true ? `\n(ended after ${timeoutMs} ms)` : '';
      resolve({ ok: error === null, output: output === '' && error !== null ? error.message : output + timedOut });
    });
    child.stdin?.end();
  });
}
