import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';

/** How much of a body that nobody wants is read so that the connection can be used again. */
const KEPT_BYTES = 64 * 1024;
/** Bounds of reading on: after them the connection is cut. Callers that stop sending once they have their answer never meet them. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 5000;

const NO_ERROR = constants.NGHTTP2_NO_ERROR;

const EXPECTS = Symbol('esclusa:expects-continue');
type Expecting = IncomingMessage & { [EXPECTS]?: boolean };

/** The caller waits for 100 (Continue) before it sends its body (RFC 9110 §10.1.1). */
export function markExpectsContinue(request: IncomingMessage): void {
  (request as Expecting)[EXPECTS] = true;
}

/** Asks for the body where the caller waits to be asked. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if ((request as Expecting)[EXPECTS] !== true) return;
  (request as Expecting)[EXPECTS] = false;
  response.writeContinue();
}

/** Told by what it is: the version is what the caller wrote. */
export function isHttp2(request: IncomingMessage): boolean {
  return 'stream' in request;
}

export function hasBody(request: IncomingMessage): boolean {
  if (isHttp2(request)) return !(request as unknown as Http2ServerRequest).stream.endAfterHeaders;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * What becomes of a body when the answer is there before it: `kept`, it is short and read so that the connection can go on; `close`, it was
 * announced and is not sent; `linger`, the answer says that the connection closes, and what still comes is thrown away for a while, since closing
 * at once would take the answer with it (RFC 9112 §9.6).
 */
export type Remainder = 'none' | 'kept' | 'close' | 'linger';

export function remainderOf(request: IncomingMessage): Remainder {
  if (request.complete || !hasBody(request)) return 'none';
  if (isHttp2(request)) return 'kept';
  if ((request as Expecting)[EXPECTS] === true) return 'close';
  const length = Number(request.headers['content-length'] ?? Infinity);
  return length <= KEPT_BYTES ? 'kept' : 'linger';
}

/** After an answer that leaves the connection open: nothing of the rest may stand in the way of the next request. */
export function leaveUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  // A stream of HTTP/2 ends by itself: the caller is told to stop, without an error (RFC 9113 §8.1).
  if (isHttp2(request)) (response as unknown as Http2ServerResponse).stream.close(NO_ERROR);
  else drain(request);
}

/** Reads and forgets what is left of a body; cuts the connection where that is too much or takes too long. */
export function drain(request: IncomingMessage, done: () => void = () => undefined, boundMs = DRAIN_MS): void {
  if (request.complete || request.destroyed) {
    request.resume();
    done();
    return;
  }
  let bytes = 0;
  const over = (): void => {
    clearTimeout(timer);
    request.off('data', count).off('end', over).off('close', over);
    done();
    if (!request.complete) request.socket.destroy();
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) over();
  };
  const timer = setTimeout(over, boundMs).unref();
  request.on('data', count).once('end', over).once('close', over);
  request.resume();
}
