import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Load, type LoadOrder, type LoadReport } from './load.js';

const answer = (status: number): string => `HTTP/1.1 ${status} Some\r\ncontent-length: 2\r\n\r\nok`;
const servers: Server[] = [];
const sockets: Socket[] = [];

/** A server that does this for the n-th request, counted from 1 over all connections. */
async function stub(respond: (socket: Socket, n: number) => void): Promise<number> {
  let n = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      for (let asked = bytes.toString('latin1').split('\r\n\r\n').length - 1; asked > 0; asked -= 1) respond(socket, (n += 1));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function run(port: number, order: Partial<LoadOrder>): Promise<LoadReport> {
  const requests = ['GET / HTTP/1.1\r\nhost: stub\r\n\r\n'];
  return new Load({ port, requests, connections: 4, seconds: 0.3, rate: undefined, seed: 1, drainMs: 1000, ...order }).run();
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

describe.each([
  ['closed loop', undefined],
  ['open loop', 200],
])('a load by a %s', (_, rate) => {
  it('counts every answer by its status', async () => {
    const port = await stub((socket, n) => socket.write(answer(n === 7 ? 503 : 200)));
    const { requests, statuses, unanswered } = await run(port, { rate });
    expect(statuses[503]).toBe(1);
    expect(statuses[200]).toBeGreaterThanOrEqual(requests - 1);
    expect(unanswered).toBe(0);
  });

  it('tells of requests that are never answered', async () => {
    const port = await stub((socket, n) => (n <= 10 ? socket.write(answer(200)) : undefined));
    const { statuses, unanswered } = await run(port, { rate, drainMs: 50 });
    expect(statuses).toEqual({ 200: 10 });
    expect(unanswered).toBeGreaterThanOrEqual(4);
  });

  it('fails where a connection is lost', async () => {
    const port = await stub((socket, n) => (n <= 10 ? socket.write(answer(200)) : socket.destroy()));
    await expect(run(port, { rate })).rejects.toThrow('closed a connection');
  });

  it('fails for an answer whose end it cannot tell', async () => {
    const port = await stub((socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'));
    await expect(run(port, { rate })).rejects.toThrow('without content-length');
  });

  it('fails where nobody listens', async () => {
    const port = await stub(() => undefined);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    await expect(run(port, { rate })).rejects.toThrow('ECONNREFUSED');
  });
});

describe('an open loop', () => {
  it('charges a stall at the end to every request that was due, even those answered after the time', async () => {
    const waiting: Socket[] = [];
    let stalled = true;
    const port = await stub((socket, n) => {
      if (n <= 20 || !stalled) socket.write(answer(200));
      else waiting.push(socket);
      if (n !== 21) return;
      setTimeout(() => {
        stalled = false;
        for (const one of waiting) one.write(answer(200));
      }, 600);
    });
    const { requests, unanswered, maxMs, p50Ms } = await run(port, { rate: 200 });
    expect(unanswered).toBe(0);
    expect(requests).toBeGreaterThan(25);
    // The stall began within the 300 ms and outlived them: what was due meanwhile waited for the better part of it.
    expect(maxMs).toBeGreaterThan(500);
    expect(p50Ms).toBeGreaterThan(100);
  });

  it('asks for the same number of requests with the same seed', async () => {
    const port = await stub((socket) => socket.write(answer(200)));
    const one = await run(port, { rate: 300, seed: 5 });
    const other = await run(port, { rate: 300, seed: 5 });
    expect(other.requests).toBe(one.requests);
  });
});
