import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { constants, createSecureServer, type Http2SecureServer, type Http2ServerRequest, type ServerHttp2Session } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Listener } from '#libs/rules';
import { answerOf, type AnswerContext } from '../answers/answer.js';
import { Refusal, plainProblem } from '../answers/problem.js';
import { sendAnswer } from '../answers/send-answer.js';
import { tlsFiles } from '../edge/tls-files.js';
import { hasBody, isHttp2, markExpectsContinue } from '../edge/unread-body.js';
import { badByParser, badHead, type BadRequest, type BadRequestKind, type ParserError } from './bad-request.js';
import { endWith } from './raw-answer.js';
import { replay } from './replay.js';

export interface ListenerEvents {
  badRequest(kind: BadRequestKind): void;
  /** A connection over the cap was closed. */
  dropped(): void;
}

/** Takes a request that asks for another protocol, and its connection; false where it is a plain request all the same. */
export type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => boolean;

/** Takes a plain request; false where Fastify is to have it. */
export type PlainListener = (request: IncomingMessage, response: ServerResponse) => boolean;

/** How often Node looks for requests that are late. */
const CHECK_MS = 500;
/** How long a caller may go on sending what is not understood, so that it gets its answer. */
const LINGER_MS = 1000;
/** Requests that may wait for their turn on a connection before it is read no further. */
const MAX_WAITING = 16;
/** Of one HTTP/2 connection. */
const MAX_STREAMS = 100;

const NO_CONNECT: BadRequest = { kind: 'method', status: 501, detail: 'CONNECT is not taken here.' };

const CONDEMNED = Symbol('esclusa:condemned');
/** The last answer that was begun on a connection, or is to be. */
const LATEST = Symbol('esclusa:latest');
/** How many requests wait for their turn on a connection. */
const WAITING = Symbol('esclusa:waiting');
type Peer = Socket & { [CONDEMNED]?: boolean; [LATEST]?: ServerResponse; [WAITING]?: number };

/**
 * The server that callers connect to: HTTP/1.1, with TLS and HTTP/2 where the edge document says so. What is not well-formed beyond doubt ends
 * here, with its connection: no route, caller or token ever has to do with it.
 */
export class EdgeListener {
  private readonly sessions = new Set<ServerHttp2Session>();
  private readonly sockets = new Set<Socket>();
  /** Connections that HTTP is spoken on: those of TLS inside of it. */
  private readonly peers = new Set<Peer>();
  /** Of these, the ones that have not had a whole request yet. */
  private readonly fresh = new Set<Peer>();
  private server: Server | undefined;
  private upgrade: UpgradeListener | undefined;
  private plain: PlainListener | undefined;

  constructor(
    private readonly config: Listener,
    private readonly context: Omit<AnswerContext, 'budget' | 'requestId' | 'crossOrigin'>,
    private readonly events: ListenerEvents,
  ) {}

  /** For Fastify. @throws EnvError where a certificate or key cannot be used */
  create(handler: RequestListener): Server {
    const { headersMs, requestMs, keepAliveMs, maxHeaderBytes, maxHeaders, maxConnections } = this.config;
    const handle: RequestListener = (request, response) => {
      this.take(request, response, handler);
    };
    const server = this.open(handle, { maxHeaderSize: maxHeaderBytes, requireHostHeader: false, connectionsCheckingInterval: CHECK_MS });
    server.headersTimeout = headersMs;
    server.requestTimeout = requestMs;
    server.keepAliveTimeout = keepAliveMs;
    // One more is let in to be seen: Node drops what is beyond without a word.
    server.maxHeadersCount = maxHeaders + 1;
    server.maxConnections = maxConnections;
    this.answerExpectations(server, handle);
    server.on('upgrade', (request: IncomingMessage, socket: Peer, head: Buffer) => {
      this.fresh.delete(socket);
      const bad = this.badHead(request);
      if (bad !== undefined) {
        this.endSocket(socket, bad);
        return;
      }
      inTurn(socket, socket[LATEST], () => {
        if (this.upgrade?.(request, socket, head) !== true) replay(server, request, socket, head);
      });
    });
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      this.endSocket(socket, NO_CONNECT);
    });
    server.on('drop', () => {
      this.events.dropped();
    });
    server.on('connection', (socket: Socket) => {
      if (this.sockets.has(socket)) return;
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      if (this.config.tls === undefined) this.meet(socket);
    });
    server.on('secureConnection', (socket: Socket) => {
      this.meet(socket);
    });
    this.server = server;
    return server;
  }

  /** Who takes plain requests before Fastify sees them. */
  onRequest(plain: PlainListener): void {
    this.plain = plain;
  }

  /** Who takes requests that ask for another protocol. */
  onUpgrade(upgrade: UpgradeListener): void {
    this.upgrade = upgrade;
  }

  /** For Fastify: what the parser refuses. */
  readonly onClientError = (error: Error & ParserError, socket: Socket): void => {
    const bad = badByParser(error);
    // A connection that was opened ahead and never used, or that broke off: nobody has to be told.
    if (bad === undefined || !socket.writable || socket.bytesRead === 0) socket.destroy();
    else this.endSocket(socket, bad);
  };

  /** Closes connections without a request, and lets answers that are still to begin say that theirs closes; those of HTTP/2 after their open streams. */
  closeIdle(): void {
    this.server?.closeIdleConnections();
    for (const socket of this.fresh) socket.destroy();
    for (const { [LATEST]: latest } of this.peers) if (latest?.headersSent === false) latest.shouldKeepAlive = false;
    for (const session of this.sessions) session.close();
  }

  /** Cuts every connection, upgraded ones included. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private open(handle: RequestListener, options: object): Server {
    const { tls, headersMs } = this.config;
    if (tls === undefined) return createServer(options, handle);
    const secure = { ...options, ...tlsFiles(tls, 'listener.tls'), handshakeTimeout: headersMs };
    const server = createTlsServer({ ...secure, ALPNProtocols: tls.http2 ? ['h2', 'http/1.1'] : ['http/1.1'] }, handle);
    if (tls.http2) this.addHttp2(server, handle, secure);
    return server;
  }

  /** Connections that chose HTTP/2 go to a server of their own: the one that Node has for both keeps none of our bounds for HTTP/1.1. */
  private addHttp2(server: Server, handle: RequestListener, secure: object): void {
    const { maxHeaderBytes, requestMs } = this.config;
    const settings = { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: maxHeaderBytes };
    const bounded = (request: Http2ServerRequest): void => {
      const timer = setTimeout(() => {
        if (!request.complete) request.stream.close(constants.NGHTTP2_CANCEL);
      }, requestMs).unref();
      request.once('close', () => {
        clearTimeout(timer);
      });
    };
    const http2 = createSecureServer({ ...secure, settings }, (request, response) => {
      const plain = request as unknown as IncomingMessage;
      if (hasBody(plain)) bounded(request);
      handle(plain, response as unknown as ServerResponse);
    });
    this.answerExpectations(http2, handle);
    http2.on('connect', (request: IncomingMessage, response: ServerResponse) => {
      this.refuse(request, response, NO_CONNECT);
    });
    this.trackSessions(http2);
    const [http1] = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[];
    server.removeAllListeners('secureConnection');
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') http2.emit('secureConnection', socket);
      else http1?.call(server, socket);
    });
  }

  private answerExpectations(server: NodeJS.EventEmitter, handle: RequestListener): void {
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      markExpectsContinue(request);
      handle(request, response);
    });
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      this.refuse(request, response, { kind: 'expectation', status: 417, detail: 'The only expectation met here is 100-continue.' });
    });
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

  private meet(socket: Peer): void {
    if (this.peers.has(socket)) return;
    // Asked while there is one: a connection that is reset at once has no address to be charged any more, unless it is known already.
    Reflect.get(socket, 'remoteAddress');
    this.peers.add(socket);
    this.fresh.add(socket);
    socket.once('close', () => {
      this.peers.delete(socket);
      this.fresh.delete(socket);
    });
  }

  private take(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    if (isHttp2(request)) {
      this.judge(request, response, handler);
      return;
    }
    const socket = request.socket as Peer;
    this.fresh.delete(socket);
    // Sent after a request that closed the connection, in the same breath.
    if (socket[CONDEMNED] === true) return;
    const before = socket[LATEST];
    socket[LATEST] = response;
    inTurn(socket, before, () => {
      this.judge(request, response, handler);
    });
  }

  private judge(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    const bad = this.badHead(request);
    if (bad !== undefined) this.refuse(request, response, bad);
    else if (this.plain?.(request, response) !== true) handler(request, response);
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

/**
 * Requests that were sent in one breath are taken one by one, since only safe ones may run side by side (RFC 9112 §9.3.2): once the one before has its
 * answer, and not at all where that closes the connection. No more is read while many wait: nobody would be seen to leave where nothing is read, so
 * that is not done for a few.
 */
function inTurn(socket: Peer, before: ServerResponse | undefined, run: () => void): void {
  if (before === undefined || before.writableFinished) {
    run();
    return;
  }
  const waiting = (socket[WAITING] ?? 0) + 1;
  socket[WAITING] = waiting;
  before.once('close', () => {
    socket[WAITING] = (socket[WAITING] ?? 1) - 1;
    if (socket[WAITING] === 0) socket.resume();
    if (before.shouldKeepAlive && !socket.destroyed) run();
  });
  // Node goes on reading after each request that it has parsed, so it is told when it has done with this piece.
  if (waiting > MAX_WAITING)
    process.nextTick(() => {
      if (!before.closed) socket.pause();
    });
}
