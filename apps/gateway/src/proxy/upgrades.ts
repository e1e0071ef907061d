import { Injectable } from '@nestjs/common';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { canonicalTarget, targetOf } from '../edge/request-target.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { hasBody } from '../edge/unread-body.js';
import { ProxyMetrics } from '../telemetry/proxy-metrics.js';
import { Entrance } from './entrance.js';
import type { Joined } from './exchange.js';
import { Tunnel } from './tunnel.js';

const WEBSOCKET = 'websocket';
const LINGER_MS = 1000;

/**
 * Requests to hand a connection over (RFC 9110 §7.8). They come in as other requests for upstreams do, and are admitted once, for as long as the
 * connection lives. Only an upstream that agrees (101) gets it.
 */
@Injectable()
export class Upgrades {
  private readonly tunnels = new Set<Tunnel>();
  private closing = false;

  constructor(
    private readonly entrance: Entrance,
    private readonly rules: EdgeRules,
    private readonly metrics: ProxyMetrics,
  ) {}

  /** @returns whether the request was taken; where not it is a plain one, whose Upgrade field nobody has to heed */
  take(request: IncomingMessage, socket: Socket, head: Buffer): boolean {
    // A body would have to end before the other protocol begins, and HTTP/1.0 knows no upgrades (RFC 9110 §7.8).
    if (hasBody(request) || request.httpVersion === '1.0') return false;
    const protocol = (request.headers.upgrade ?? '').trim().toLowerCase();
    canonicalTarget(request);
    const allowed = this.allows(request, protocol);
    if (!allowed && protocol !== WEBSOCKET) return false;
    socket.on('error', () => socket.destroy());
    const unwatch = cutAtEnd(socket);
    const response = answerOn(socket, request, unwatch);
    const take = (joined: Joined): Promise<void> => {
      unwatch();
      return this.join(joined, { protocol, response, client: socket, head });
    };
    this.entrance.take(request, response, allowed ? { protocol, take } : 'refused');
    return true;
  }

  /** Takes leave of everyone, also of those whose upstream has not agreed yet. */
  close(): void {
    this.closing = true;
    for (const tunnel of this.tunnels) tunnel.close();
  }

  private allows(request: IncomingMessage, protocol: string): boolean {
    const target = targetOf(request);
    if ('refused' in target) return false;
    return this.rules.current.match(request.method ?? '', target.path)?.upgrades.includes(protocol) === true;
  }

  /** Resolves when the connection is closed. */
  private join({ fields, upstream, idleMs }: Joined, { protocol, response, client, head }: Asked): Promise<void> {
    response.detachSocket(client);
    client.write(switching(protocol, fields));
    if (head.length > 0) client.unshift(head);
    this.metrics.upgraded(1);
    return new Promise((resolve) => {
      const tunnel = new Tunnel({
        client,
        upstream,
        webSocket: protocol === WEBSOCKET,
        idleMs,
        onClosed: () => {
          this.tunnels.delete(tunnel);
          this.metrics.upgraded(-1);
          resolve();
        },
      });
      this.tunnels.add(tunnel);
      if (this.closing) tunnel.close();
    });
  }
}

interface Asked {
  readonly protocol: string;
  readonly response: ServerResponse;
  readonly client: Socket;
  /** What the caller sent behind its request. */
  readonly head: Buffer;
}

/** A response on a connection that Node's server has let go of: for every end that is no upgrade. */
function answerOn(socket: Socket, request: IncomingMessage, onFinish: () => void): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    onFinish();
    response.detachSocket(socket);
    socket.end();
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
  return response;
}

/** A caller that has gone while the upstream is asked is not waited with: its end is looked for without taking what it sends ahead. */
function cutAtEnd(socket: Socket): () => void {
  const look = (): void => {
    if (socket.readableLength === 0) socket.read(0);
  };
  const cut = (): void => {
    socket.destroy();
  };
  socket.on('readable', look).on('end', cut);
  return () => {
    socket.off('readable', look).off('end', cut);
  };
}

function switching(protocol: string, fields: readonly string[]): Buffer {
  let text = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i] ?? ''}: ${fields[i + 1] ?? ''}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}
