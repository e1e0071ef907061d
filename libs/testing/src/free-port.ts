import { createServer, type AddressInfo } from 'node:net';

/**
 * A TCP port of the loopback interface that was free a moment ago. Another process may take it before the caller does: where the
 * server that is to use it can listen on port 0 itself, prefer that.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
