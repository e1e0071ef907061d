import '../../gateway/src/runtime.js';
import 'reflect-metadata';
import { fileURLToPath } from 'node:url';
import { DocumentError } from '#libs/rules';
import { startDemoBackends } from '../../demo-backends/src/start-demo-backends.js';
import { ExportsModule } from '../../gateway/src/examples/exports.controller.js';
import { EnvError, toGatewayEnv } from '../../gateway/src/gateway.env.js';
import { makeLogger } from '../../gateway/src/logger.js';
import { closeOnSignals, inOrder } from '../../gateway/src/shutdown.js';
import { startGateway } from '../../gateway/src/start-gateway.js';
import { writeDemoConfig } from './demo-config.js';
import { readStandaloneEnv } from './standalone.env.js';
import { welcome } from './welcome.js';

const sample = (name: string): string => fileURLToPath(new URL(`../../../../config/${name}`, import.meta.url));

try {
  const { given, pepper } = await readStandaloneEnv();
  const backends = await startDemoBackends({ ordersPort: 0, searchPort: 0 });
  const limits = sample('limits.yaml');
  const demo = writeDemoConfig(sample('edge.yaml'), limits, { orders: backends.ordersUrl, search: backends.searchUrl }, pepper);
  const env = toGatewayEnv({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    ...given,
    STORE: 'memory',
    EDGE_CONFIG: demo.edgeFile,
    LIMITS_SOURCE: limits,
    API_KEY_PEPPER: pepper,
  });
  const gateway = await startGateway(env, [ExportsModule]);
  const logger = makeLogger(env);
  closeOnSignals(
    logger,
    inOrder(logger, [
      ['gateway', () => gateway.close()],
      ['demo backends', () => backends.close()],
      [
        'demo keys',
        () => {
          demo.remove();
        },
      ],
    ]),
  );
  process.once('SIGINT', () => process.stdout.write('\nStopping: requests in flight may finish, up to 8 s.\n'));
  process.stdout.write(welcome(gateway.url, gateway.adminUrl, demo.keys));
} catch (error) {
  const known = error instanceof DocumentError || error instanceof EnvError;
  const portTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const told = known || portTaken ? (error as Error).message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${told}${portTaken ? '\nThat port is taken: choose others, e.g. PORT=8180 ADMIN_PORT=9190 npm start' : ''}\n`);
  process.exit(1);
}
