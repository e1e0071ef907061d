import { spawnNode, waitFor } from '#libs/testing';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/** An upstream below HTTP: it answers with whatever bytes a test likes. */
export interface RawUpstream {
  readonly url: string;
  close(): Promise<void>;
}

/** @param onRequest once for each connection that has sent something */
export async function startRawUpstream(onRequest: (socket: Socket, bytes: Buffer) => void, allowHalfOpen = false): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      onRequest(socket, bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** An upstream whose host takes no more connections: it listens, but its queue is full and nobody empties it. */
export async function startFullUpstream(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = spawnNode(fileURLToPath(new URL('./full-upstream.js', import.meta.url)));
  const [, port = ''] = await child.waitForLine(/full on (\d+)/);
  let connected = 0;
  const fillers = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1', () => (connected += 1)).on('error', () => undefined));
  await waitFor(() => connected >= 2, { what: 'the queue to fill' });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      for (const socket of fillers) socket.destroy();
      await child.kill();
    },
  };
}
