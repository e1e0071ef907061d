import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

export interface WebSocketUpstream {
  readonly url: string;
  /** Of every upgrade that arrived. */
  readonly upgrades: readonly IncomingMessage[];
  /** Of every plain request that arrived. */
  readonly requests: readonly IncomingMessage[];
  readonly open: ReadonlySet<WebSocket>;
  close(): Promise<void>;
}

/** Echoes; says `bye` and closes on the message `close`; answers plain requests with 200 `plain`. */
export async function startWebSocketUpstream(): Promise<WebSocketUpstream> {
  const upgrades: IncomingMessage[] = [];
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume().on('end', () => response.end('plain'));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const webSockets = new WebSocketServer({ server });
  webSockets.on('connection', (socket, request) => {
    upgrades.push(request);
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, binary) => {
      if (String(data) === 'close') socket.close(4001, 'bye');
      else socket.send(data, { binary });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upgrades,
    requests,
    open: webSockets.clients,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        webSockets.close();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** An open WebSocket, or the status of the answer that was not one. */
export function openWebSocket(url: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<WebSocket | number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers, agent: false });
    socket.once('open', () => {
      resolve(socket);
    });
    socket.once('unexpected-response', (request, response) => {
      response.resume();
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
    socket.once('error', reject);
  });
}

/** The next message, as text. */
export function nextMessage(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('message', (data: Buffer) => {
      resolve(String(data));
    });
  });
}

/** Status and reason that it was closed with. */
export function closed(socket: WebSocket): Promise<readonly [number, string]> {
  return new Promise((resolve) => {
    socket.once('close', (code, reason) => {
      resolve([code, String(reason)]);
    });
  });
}
