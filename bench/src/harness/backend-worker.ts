import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const BODY = Buffer.from('{"ok":true,"from":"the bench backend"}');

/** The cheapest upstream that is still one: the same small JSON for everything. */
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, ['content-type', 'application/json', 'content-length', String(BODY.length)]).end(BODY);
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit(0));
