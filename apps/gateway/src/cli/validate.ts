import { accessSync, constants } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  DocumentError,
  compileRules,
  documentKind,
  loadEdgeDocument,
  loadLimitsDocument,
  toEdgeConfig,
  type EdgeDocument,
  type LimitsDocument,
} from '#libs/rules';
import { tlsFiles } from '../edge/tls-files.js';
import { EnvError } from '../gateway.env.js';
import { UsageError, runCli } from './run-cli.js';

const USAGE = `npm run validate -- FILE…
An edge and a limits document together are also checked against each other. Files that the edge document names are looked for, and missed in a warning.`;

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
  edges.forEach(warnOfFiles);
  const [edge] = edges;
  const [limit] = limits;
  if (!failed && edges.length === 1 && limits.length === 1 && edge !== undefined && limit !== undefined) {
    failed = attempt(() => compileRules(edge, limit, undefined)) !== undefined;
    if (!failed) process.stdout.write('together: ok; every route has an enforcing policy for every caller\n');
  }
  return failed ? 1 : 0;
});

/** Files that the document names and that are not to be had here, where a gateway need not run. */
function warnOfFiles(edge: EdgeDocument): void {
  const { listener, upstreams, identity } = toEdgeConfig(edge);
  const keyFiles = identity.jwt.map(({ jwks }, i) => [`identity.jwt[${i}].jwks.file`, 'file' in jwks ? jwks.file : undefined] as const);
  const checks = [
    () => void tlsFiles(listener.tls ?? {}, 'listener.tls'),
    ...[...upstreams.values()].map((upstream) => () => void tlsFiles(upstream.tls, `upstreams.${upstream.name}.tls`)),
    ...[['identity.apiKeys.file', identity.apiKeys?.file] as const, ...keyFiles].map(([where, file]) => () => {
      if (file !== undefined) mustBeReadable(file, where);
    }),
  ];
  for (const check of checks) {
    try {
      check();
    } catch (error) {
      if (!(error instanceof EnvError)) throw error;
      process.stderr.write(`warning: ${error.message}; a gateway would not start here\n`);
    }
  }
}

/** @throws EnvError */
function mustBeReadable(file: string, where: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new EnvError(`EDGE_CONFIG: ${where}: ${file} cannot be read: ${(error as Error).message}`);
  }
}

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
