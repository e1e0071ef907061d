import { readFileSync } from 'node:fs';
import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Listener } from '#libs/rules';
import { answerOf, type AnswerContext } from '../answers/answer.js';
import { Refusal, plainProblem } from '../answers/problem.js';
import { sendAnswer } from '../answers/send-answer.js';
import { isHttp2, markExpectsContinue } from '../edge/unread-body.js';
import { badByParser, badHead, type BadRequest, type BadRequestKind, type ParserError } from './bad-request.js';
import { endWith } from './raw-answer.js';

export interface ListenerEvents {
  badRequest(kind: BadRequestKind): void;
  /** A connection over the cap was closed. */
  dropped(): void;
}

/** Takes a request that asks for another protocol, and its connection; false where it is a plain request all the same. */
export type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => boolean;

/** How often Node looks for requests that are late. */
const CHECK_MS = 500;
/** How long a caller may go on sending what is not understood, so that it gets its answer. */
const LINGER_MS = 1000;
/** Of one HTTP/2 connection. */
const MAX_STREAMS = 100;

const CONDEMNED = Symbol('esclusa:condemned');
/** The last answer that was begun on a connection, or is to be. */
const LATEST = Symbol('esclusa:latest');
type Peer = Socket & { [CONDEMNED]?: boolean; [LATEST]?: ServerResponse };

/**
 * The server that callers connect to: HTTP/1.1, with TLS and HTTP/2 where the edge document says so. What is not well-formed beyond doubt ends
 * here, with its connection: no route, caller or token ever has to do with it.
 */
export class EdgeListener {
  private readonly sessions = new Set<ServerHttp2Session>();
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private upgrade: UpgradeListener | undefined;

  constructor(
    private readonly config: Listener,
    private readonly context: Omit<AnswerContext, 'budget' | 'requestId' | 'crossOrigin'>,
    private readonly events: ListenerEvents,
  ) {}

  /** For Fastify. @throws Error where a certificate or key cannot be read */
  create(handler: RequestListener): Server {
    const { headersMs, requestMs, keepAliveMs, maxHeaderBytes, maxHeaders, maxConnections } = this.config;
    const handle: RequestListener = (request, response) => {
      this.take(request, response, handler);
    };
    const server = this.open(handle, { maxHeaderSize: maxHeaderBytes, requireHostHeader: false, connectionsCheckingInterval: CHECK_MS });
    server.headersTimeout = headersMs;
    server.requestTimeout = Math.max(headersMs, requestMs);
    server.keepAliveTimeout = keepAliveMs;
    // One more is let in to be seen: Node drops what is beyond without a word.
    server.maxHeadersCount = maxHeaders + 1;
    server.maxConnections = maxConnections;
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      markExpectsContinue(request);
      handle(request, response);
    });
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      this.refuse(request, response, { kind: 'expectation', status: 417, detail: 'The only expectation met here is 100-continue.' });
    });
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      const bad = this.badHead(request);
      if (bad !== undefined) this.endSocket(socket, bad);
      else if (this.upgrade?.(request, socket, head) !== true) replay(server, request, socket, head);
    });
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      this.endSocket(socket, { kind: 'method', status: 501, detail: `${request.method ?? ''} is not taken here.` });
    });
    server.on('drop', () => {
      this.events.dropped();
    });
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.server = server;
    return server;
  }

  /** Who takes requests that ask for another protocol. */
  onUpgrade(upgrade: UpgradeListener): void {
    this.upgrade = upgrade;
  }

  /** For Fastify: what the parser refuses. */
  readonly onClientError = (error: Error & ParserError, socket: Socket): void => {
    const bad = badByParser(error);
    // Its request is still being sent when a connection is idle, or broken off: nobody has to be told.
    if (bad === undefined || !socket.writable) socket.destroy();
    else this.endSocket(socket, bad);
  };

  /** Closes connections without a request; those of HTTP/2 after their open streams. */
  closeIdle(): void {
    this.server?.closeIdleConnections();
    for (const session of this.sessions) session.close();
  }

  /** Cuts every connection, upgraded ones included. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private open(handle: RequestListener, options: object): Server {
    const { tls } = this.config;
    if (tls === undefined) return createServer(options, handle);
    const keys = { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) };
    if (!tls.http2) return createTlsServer({ ...options, ...keys }, handle);
    const settings = { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: this.config.maxHeaderBytes };
    const server = createSecureServer({ ...options, ...keys, allowHTTP1: true, settings }, handle as never);
    this.trackSessions(server);
    // Of the same methods and events as far as they are used here.
    return server as unknown as Server;
  }

  private trackSessions(server: Http2SecureServer): void {
    server.on('session', (session) => {
      this.sessions.add(session);
      session.setTimeout(this.config.keepAliveMs, () => {
        session.close();
      });
      session.once('close', () => this.sessions.delete(session));
    });
  }

  private take(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    if (isHttp2(request)) {
      this.judge(request, response, handler);
      return;
    }
    const socket = request.socket as Peer;
    // Sent after a request that closed the connection, in the same breath.
    if (socket[CONDEMNED] === true) return;
    const before = socket[LATEST];
    socket[LATEST] = response;
    if (before === undefined || before.writableFinished) {
      this.judge(request, response, handler);
      return;
    }
    // Sent before the answer to the last one: taken one by one, since only safe ones may run side by side (RFC 9112 §9.3.2), and no more is read.
    socket.pause();
    before.once('close', () => {
      if (socket[LATEST] === response) socket.resume();
      if (before.shouldKeepAlive && !socket.destroyed) this.judge(request, response, handler);
    });
  }

  private judge(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    const bad = this.badHead(request);
    if (bad === undefined) handler(request, response);
    else this.refuse(request, response, bad);
  }

  private badHead(request: IncomingMessage): BadRequest | undefined {
    return badHead(request, isHttp2(request), this.config);
  }

  private refuse(request: IncomingMessage, response: ServerResponse, bad: BadRequest): void {
    if (!isHttp2(request)) {
      (request.socket as Peer)[CONDEMNED] = true;
      response.shouldKeepAlive = false;
    }
    const { status, head, body } = this.answer(bad);
    sendAnswer(request, response, status, head, body, LINGER_MS);
  }

  private endSocket(socket: Peer, bad: BadRequest): void {
    if (socket[CONDEMNED] === true) return;
    socket[CONDEMNED] = true;
    const { status, head, body } = this.answer(bad);
    const latest = socket[LATEST];
    if (latest === undefined || latest.writableFinished) endWith(socket, status, head, body);
    // An answer in front of this one would be mixed up with it; it goes out, and the connection closes behind it.
    else if (latest.req.complete)
      latest.once('finish', () => {
        socket.destroySoon();
      });
    else if (latest.headersSent || latest.socket === null) socket.destroy();
    else endWith(socket, status, head, body);
  }

  private answer({ kind, status, detail }: BadRequest) {
    this.events.badRequest(kind);
    const refusal = new Refusal(
      plainProblem(status, STATUS_CODES[status] ?? 'Bad Request', detail),
      [],
      status === 421 ? { error: 'http_request_denied' } : { error: 'http_request_error' },
    );
    return { status, ...answerOf(refusal, { ...this.context, budget: [], requestId: undefined, crossOrigin: false }) };
  }
}

const FOR_UPGRADES = ['upgrade', 'http2-settings'];

/**
 * Gives a connection back to its server with the request as a plain one: Node lets go of every connection that asks for an upgrade, but a server may
 * answer such a request as if it had not asked (RFC 9110 §7.8). The parser was strict, so what is written here is what was sent.
 */
function replay(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method = '', url = '', httpVersion, rawHeaders } = request;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (FOR_UPGRADES.includes(name.toLowerCase())) continue;
    const value = rawHeaders[i + 1] ?? '';
    const kept = name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value;
    if (kept !== undefined) text += `${name}: ${kept}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

function withoutUpgrade(connection: string): string | undefined {
  const named = connection.split(',').filter((name) => !FOR_UPGRADES.includes(name.trim().toLowerCase()));
  return named.length === 0 ? undefined : named.join(',');
}
