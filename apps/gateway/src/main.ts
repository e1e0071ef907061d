import './runtime.js';
import 'reflect-metadata';
import { DocumentError } from '#libs/rules';
import { EnvError, readGatewayEnv } from './gateway.env.js';
import { makeLogger } from './logger.js';
import { closeOnSignals } from './shutdown.js';
import { startGateway } from './start-gateway.js';

try {
  const env = await readGatewayEnv();
  const gateway = await startGateway(env);
  const logger = makeLogger(env);
  closeOnSignals(logger, () => gateway.close());
  logger.log(`gateway ${env.GATEWAY_ID} on ${gateway.url}, admin on ${gateway.adminUrl}`, 'Gateway');
} catch (error) {
  // What an operator wrote wrongly needs no stack; anything else does.
  const known = error instanceof DocumentError || error instanceof EnvError;
  process.stderr.write(`${known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
