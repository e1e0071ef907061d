import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isHttp2 } from '../edge/unread-body.js';

export interface ForwardEvents {
  /** A connection takes the request. */
  readonly sent?: () => void;
  /** The response head as it goes to the caller, name and value in turn, from the upstream's bytes. Nothing may be answered after it. */
  readonly head: (rawHeaders: readonly Buffer[]) => string[];
  /** An answer that is not passed on, since another attempt follows. */
  readonly discards?: (status: number, rawHeaders: readonly Buffer[]) => boolean;
  /** The upstream hands the connection over (101). */
  readonly upgraded?: (rawHeaders: readonly Buffer[], socket: Duplex) => void;
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

  constructor(
    private readonly response: ServerResponse,
    private readonly events: ForwardEvents,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.reason === undefined) this.events.sent?.();
    else controller.abort(this.reason);
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController, _status: number, _headers: IncomingHttpHeaders, socket: Duplex): void {
    if (this.reason === undefined && this.events.upgraded !== undefined) {
      this.events.upgraded(controller.rawHeaders as readonly Buffer[], socket);
      return;
    }
    socket.destroy();
    this.events.ended(this.reason ?? new Error('an upgrade that nobody asked for'));
  }

  /** A head that cannot be sent on (a field with a control character) throws here, and undici turns that into `onResponseError`. */
  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders, statusText?: string): void {
    if (status < 200) {
      this.interim(status, headers);
      return;
    }
    const rawHeaders = controller.rawHeaders as readonly Buffer[];
    if (this.events.discards?.(status, rawHeaders) === true) {
      this.cancel(new Discarded());
      return;
    }
    const head = this.events.head(rawHeaders);
    if (statusText === undefined || statusText === '' || this.response.req.httpVersionMajor === 2) this.response.writeHead(status, head);
    else this.response.writeHead(status, statusText, head);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.response.write(chunk)) return;
    controller.pause();
    this.response.once('drain', () => {
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.response.end();
    this.events.ended(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.response.headersSent) breakOff(this.response);
    this.events.ended(this.reason ?? error);
  }

  /** Ends the call, at once or as soon as it has a connection; `reason` is what it ended with. */
  cancel(reason: Error): void {
    this.reason ??= reason;
    this.controller?.abort(this.reason);
  }

  /** Interim answers are passed on (RFC 9110 §15.2) as far as Node can write them: Processing and Early Hints with their links. */
  private interim(status: number, { link }: IncomingHttpHeaders): void {
    if (this.response.req.httpVersion === '1.0') return;
    if (status === 102 && 'writeProcessing' in this.response) this.response.writeProcessing();
    if (status === 103 && link !== undefined) this.response.writeEarlyHints({ link });
  }
}

/** A body of HTTP/1.0 may end with its connection, and one of HTTP/2 with its stream: only a reset tells that it is not whole. */
function breakOff(response: ServerResponse): void {
  const { req, socket } = response;
  if (isHttp2(req)) (response as unknown as Http2ServerResponse).stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else if (req.httpVersion === '1.0' && socket !== null && !('encrypted' in socket)) socket.resetAndDestroy();
  else response.destroy();
}
