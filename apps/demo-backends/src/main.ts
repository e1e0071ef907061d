import { EnvError, readDemoBackendsEnv } from './demo-backends.env.js';
import { startDemoBackends } from './start-demo-backends.js';

try {
  const env = await readDemoBackendsEnv();
  const backends = await startDemoBackends({
    host: env.HOST,
    ordersPort: env.ORDERS_PORT,
    searchPort: env.SEARCH_PORT,
    searchSlots: env.SEARCH_SLOTS,
    searchService: env.SEARCH_SERVICE_MS,
  });
  process.stdout.write(`demo backends: orders on ${backends.ordersUrl}, search on ${backends.searchUrl}\n`);
  const stop = (): void => void backends.close().then(() => process.exit(0));
  process.once('SIGTERM', stop).once('SIGINT', stop);
} catch (error) {
  process.stderr.write(
    `${error instanceof EnvError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
}
