import { request } from 'node:http';
import { join } from 'node:path';
import { createServer } from 'node:net';
import { startEdge, type EdgeOptions, type TestEdge } from './edge.js';

/** An edge that is reached through a Unix socket too, where connections have no address. */
export async function startSocketEdge(
  options: EdgeOptions,
): Promise<{ edge: TestEdge; askSocket: (path: string) => Promise<{ status: number }> }> {
  const edge = await startEdge(options);
  const socketPath = join(edge.files.folder, 'edge.sock');
  const http = edge.gateway.app.getHttpServer();
  // Hands connections of the Unix socket to the edge's own HTTP server, as a second listener would.
  const door = createServer((socket) => http.emit('connection', socket));
  await new Promise<void>((resolve) => door.listen(socketPath, resolve));
  return {
    edge: {
      ...edge,
      close: async () => {
        door.close();
        await edge.close();
      },
    },
    askSocket: (path) =>
      new Promise((resolve, reject) => {
        request({ socketPath, path, agent: false, headers: { host: 'x' } }, (response) => {
          response.resume().on('end', () => {
            resolve({ status: response.statusCode ?? 0 });
          });
        })
          .on('error', reject)
          .end();
      }),
  };
}
