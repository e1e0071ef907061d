import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** How long the other side has to close once it has its answer. */
const LINGER_MS = 1000;

/** Answers on a connection that no parser reads any more, and closes it, so that the answer arrives whatever was still being sent. */
export function endWith(socket: Socket, status: number, head: readonly string[], body: Buffer): void {
  socket.on('error', () => socket.destroy());
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let i = 0; i < head.length; i += 2) text += `${head[i] ?? ''}: ${head[i + 1] ?? ''}\r\n`;
  socket.end(Buffer.concat([Buffer.from(`${text}Connection: close\r\n\r\n`, 'latin1'), body]));
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
