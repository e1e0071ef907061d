import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

const FOR_UPGRADES = ['upgrade', 'http2-settings'];

/**
 * Gives a connection back to its server with the request as a plain one: Node lets go of every connection that asks for an upgrade, but a server may
 * answer such a request as if it had not asked (RFC 9110 §7.8). The parser was strict, so what is written here is what was sent. The connection
 * closes behind it: a server meets a connection once.
 */
export function replay(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method = '', url = '', httpVersion, rawHeaders } = request;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (FOR_UPGRADES.includes(name.toLowerCase())) continue;
    const value = rawHeaders[i + 1] ?? '';
    const kept = name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value;
    if (kept !== undefined) text += `${name}: ${kept}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}Connection: close\r\n\r\n`, 'latin1'), head]));
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

function withoutUpgrade(connection: string): string | undefined {
  const named = connection.split(',').filter((name) => !FOR_UPGRADES.includes(name.trim().toLowerCase()));
  return named.length === 0 ? undefined : named.join(',');
}
