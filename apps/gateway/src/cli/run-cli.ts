/** The command line makes no sense. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type ErrorClass = abstract new (...args: never[]) => Error;

/**
 * Runs a command and sets the exit code: what it returns; 2 with the usage for a wrong command line; 1 for an expected error, without a
 * stack.
 */
export async function runCli(usage: string, expected: readonly ErrorClass[], run: () => number | Promise<number>): Promise<void> {
  try {
    process.exitCode = await run();
  } catch (error) {
    const wrongUsage =
      error instanceof UsageError || (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
    if (!(error instanceof Error) || (!wrongUsage && !expected.some((kind) => error instanceof kind))) throw error;
    process.stderr.write(`${error.message}\n${wrongUsage ? `\n${usage}\n` : ''}`);
    process.exitCode = wrongUsage ? 2 : 1;
  }
}
