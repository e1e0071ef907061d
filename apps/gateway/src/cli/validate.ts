import { parseArgs } from 'node:util';
import {
  DocumentError,
  compileRules,
  documentKind,
  loadEdgeDocument,
  loadLimitsDocument,
  type EdgeDocument,
  type LimitsDocument,
} from '#libs/rules';
import { UsageError, runCli } from './run-cli.js';

const USAGE = `npm run validate -- FILE…
An edge and a limits document together are also checked against each other.`;

await runCli(USAGE, [], () => {
  const { positionals: files } = parseArgs({ allowPositionals: true });
  if (files.length === 0) throw new UsageError('no file is given');
  const edges: EdgeDocument[] = [];
  const limits: LimitsDocument[] = [];
  let failed = false;
  for (const file of files) {
    const result = attempt(() => {
      if (documentKind(file) === 'edge') edges.push(loadEdgeDocument(file));
      else limits.push(loadLimitsDocument(file));
    });
    if (result === undefined) process.stdout.write(`${file}: ok\n`);
    failed ||= result !== undefined;
  }
  const [edge] = edges;
  const [limit] = limits;
  if (!failed && edges.length === 1 && limits.length === 1 && edge !== undefined && limit !== undefined) {
    failed = attempt(() => compileRules(edge, limit, undefined)) !== undefined;
    if (!failed) process.stdout.write('together: ok; every route has an enforcing policy for every caller\n');
  }
  return failed ? 1 : 0;
});

function attempt(run: () => unknown): DocumentError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error;
  }
}
