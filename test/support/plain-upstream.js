// A well-behaved upstream that can be killed and started again on the same port: PORT (0: any), DELAY_MS before each answer.
import { createServer } from 'node:http';

const { PORT = '0', DELAY_MS = '0', NAME = 'plain' } = process.env;
const server = createServer((request, response) => {
  request.resume();
  setTimeout(() => response.writeHead(200, { 'content-type': 'text/plain', 'content-length': NAME.length }).end(NAME), Number(DELAY_MS));
});
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`upstream on ${server.address().port}\n`));
