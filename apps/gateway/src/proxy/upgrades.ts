import { Injectable } from '@nestjs/common';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ArrivalReader } from '../admission/arrival.js';
import { Gate } from '../admission/gate.js';
import { Refusal, plainProblem } from '../answers/problem.js';
import { ProblemFilter } from '../answers/problem.filter.js';
import { canonicalTarget, targetOf } from '../edge/request-target.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { hasBody } from '../edge/unread-body.js';
import { ProxyMetrics } from '../telemetry/proxy-metrics.js';
import type { Joined, UpgradeWish } from './exchange.js';
import { Forwarder } from './forwarder.js';
import { Tunnel } from './tunnel.js';

const WEBSOCKET = 'websocket';
const LINGER_MS = 1000;

/**
 * Requests to hand a connection over (RFC 9110 §7.8). They pass by Fastify and Nest's guards, so they are admitted here: once, for as long as the
 * connection lives. Only an upstream that agrees (101) gets it.
 */
@Injectable()
export class Upgrades {
  private readonly tunnels = new Set<Tunnel>();
  private closing = false;

  constructor(
    private readonly arrivals: ArrivalReader,
    private readonly gate: Gate,
    private readonly forwarder: Forwarder,
    private readonly filter: ProblemFilter,
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
    const response = answerOn(socket, request);
    this.admit(
      request,
      response,
      allowed ? { protocol, take: (joined) => this.join(joined, { protocol, response, client: socket, head }) } : undefined,
    ).catch((thrown: unknown) => {
      this.filter.answer(thrown, request, response);
    });
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

  private async admit(request: IncomingMessage, response: ServerResponse, upgrade: UpgradeWish | undefined): Promise<void> {
    const visit = await this.gate.admit(this.arrivals.atProxy(request), request);
    if (upgrade === undefined) throw new Refusal(plainProblem(400, 'Bad Request', 'This route hands no connections over.'));
    const { criticality } = visit.decision.route;
    this.metrics.forwarding(criticality, 1);
    try {
      await this.forwarder.forward(request, response, visit, { upgrade });
    } finally {
      this.metrics.forwarding(criticality, -1);
    }
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
function answerOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.end();
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
  return response;
}

function switching(protocol: string, fields: readonly string[]): Buffer {
  let text = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i] ?? ''}: ${fields[i + 1] ?? ''}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}
