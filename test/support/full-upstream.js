// Listens with a short queue, fills it, and never accepts again: its event loop stands still. Ended by a signal.
import { connect, createServer } from 'node:net';

const server = createServer();
server.listen(0, '127.0.0.1', 1, () => {
  const { port } = server.address();
  for (let i = 0; i < 8; i += 1) connect(port, '127.0.0.1').on('error', () => undefined);
  setTimeout(() => {
    process.stdout.write(`full on ${port}\n`, () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  }, 0);
});
server.on('connection', (socket) => socket.on('error', () => undefined));
