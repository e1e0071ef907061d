// Listens with the shortest queue and never accepts: its event loop stands still from the start. Ended by a signal.
import { createServer } from 'node:net';
import { writeSync } from 'node:fs';

const server = createServer();
server.listen(0, '127.0.0.1', 1, () => {
  writeSync(1, `full on ${server.address().port}\n`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
