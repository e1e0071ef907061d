/**
 * `12 passed, 0 failed`, with `, 1 skipped` if any. A test file that could not run at all, or failed outside its tests, counts as
 * one failed test.
 */
export function closingLine(results) {
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
  const skipped = results.numPendingTests + results.numTodoTests;
  return `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Jest reporter: prints the closing line as the very last thing, after jest's own summary. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    process.once('exit', () => process.stdout.write(`\n${closingLine(results)}\n`));
  }
}
