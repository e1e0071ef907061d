import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { cutWhenStalled } from '../edge/slow-reader.js';
import { isHttp2 } from '../edge/unread-body.js';
import { UpstreamFault } from './upstream-faults.js';

export interface ForwardEvents {
  /** A connection takes the request. */
  readonly sent: () => void;
  /** The response head as it goes to the caller, name and value in turn, from the upstream's bytes. Nothing may be answered after it. */
  readonly head: (rawHeaders: readonly Buffer[], status: number) => string[];
  /** An answer that is not passed on, since another attempt follows. */
  readonly discards: (status: number, rawHeaders: readonly Buffer[]) => boolean;
  /** The upstream hands the connection over (101). */
  readonly upgraded: (rawHeaders: readonly Buffer[], socket: Duplex) => void;
  /** Once, when the upstream's pool has done with the call: before its end, but long after that of a call that was cancelled while it waited. */
  readonly released: () => void;
  /**
   * Once, when the call is over: without an error when the whole answer is on its way; with one when it failed, before its head (then
   * `response.headersSent` is false, and the caller can get an honest answer) or in the middle (then the caller's connection is cut).
   */
  readonly ended: (error: Error | undefined) => void;
}

/** An answer that a further attempt is made for. */
export class Discarded extends Error {}

/** The caller has gone. */
export class CallerGone extends Error {}

/**
 * Writes an upstream's response straight onto the caller's, chunk by chunk, as fast as the caller reads. Once the head is out
 * a broken upstream ends the caller's connection: a cut-off body must not look whole.
 */
export class ForwardHandler implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private reason: Error | undefined;
  private over = false;
  /** The answer has no body, whatever length it speaks of (RFC 9110 §15.3.5, §15.4.5). */
  private bodyless = false;

  /** @param idleMs how long the caller may take nothing of what is there for it */
  constructor(
    private readonly response: ServerResponse,
    private readonly idleMs: number,
    private readonly events: ForwardEvents,
  ) {}

  /** It has not got a connection yet. */
  get waiting(): boolean {
    return this.controller === undefined && !this.over;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.reason === undefined) this.events.sent();
    else controller.abort(this.reason);
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController, _status: number, _headers: IncomingHttpHeaders, socket: Duplex): void {
    this.events.released();
    if (this.reason === undefined) {
      this.over = true;
      this.events.upgraded(controller.rawHeaders as readonly Buffer[], socket);
      return;
    }
    socket.destroy();
    this.end(this.reason);
  }

  /**
   * A head that cannot be sent on (a field with a control character) throws here, and undici turns that into `onResponseError`. The reason phrase
   * ends here: HTTP/2 has none, and nobody is to read it (RFC 9112 §4).
   */
  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      this.interim(status, headers);
      return;
    }
    if (status > 599) throw new UpstreamFault('http_protocol_error');
    const rawHeaders = controller.rawHeaders as readonly Buffer[];
    if (this.events.discards(status, rawHeaders)) {
      this.cancel(new Discarded());
      return;
    }
    this.bodyless = status === 204 || status === 304;
    this.response.writeHead(status, this.events.head(rawHeaders, status));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.response.write(chunk)) return;
    controller.pause();
    const release = cutWhenStalled(this.response, this.idleMs);
    this.response.once('drain', () => {
      release();
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.events.released();
    this.finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.events.released();
    if (this.over) return;
    // undici waits for the body that Content-Length speaks of.
    if (this.bodyless && 'code' in error && error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
      this.finish();
      return;
    }
    if (this.response.headersSent) breakOff(this.response);
    this.end(this.reason ?? error);
  }

  /** Ends the call; `reason` is what it ended with. One that waits for a connection ends at once, and is dropped when it gets one. */
  cancel(reason: Error): void {
    this.reason ??= reason;
    if (this.controller === undefined) this.end(this.reason);
    else this.controller.abort(this.reason);
  }

  private finish(): void {
    this.response.end();
    if (this.response.writableLength > 0) cutWhenStalled(this.response, this.idleMs);
    this.end(undefined);
  }

  private end(error: Error | undefined): void {
    if (this.over) return;
    this.over = true;
    this.events.ended(error);
  }

  /** Interim answers are passed on (RFC 9110 §15.2) as far as Node can write them: Processing and Early Hints with their links. */
  private interim(status: number, { link }: IncomingHttpHeaders): void {
    if (this.response.req.httpVersion === '1.0') return;
    if (status === 102 && 'writeProcessing' in this.response) this.response.writeProcessing();
    const links = status === 103 && link !== undefined ? linksOf(link) : [];
    if (links.length > 0) this.response.writeEarlyHints({ link: links });
  }
}

/** A link of a list, in the form that Node takes for one. */
const LINK = /<[^>]*>(?:\s*;\s*[^;",\s]+(?:="[^;"\s]*")?)*(?=\s*(?:,|$))/g;

/** The links of an interim answer: hints that cannot be passed on are left out. */
function linksOf(link: string | readonly string[]): string[] {
  return [link].flat().flatMap((list) => list.match(LINK) ?? []);
}

/** A body of HTTP/1.0 may end with its connection, and one of HTTP/2 with its stream: only a reset tells that it is not whole. */
function breakOff(response: ServerResponse): void {
  const { req, socket } = response;
  if (isHttp2(req)) (response as unknown as Http2ServerResponse).stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else if (req.httpVersion === '1.0' && socket !== null && !('encrypted' in socket)) socket.resetAndDestroy();
  else response.destroy();
}
