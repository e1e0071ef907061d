import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, leaveUnread, remainderOf } from '../edge/unread-body.js';

/**
 * Sends an answer of the edge's own, whatever is still to come of the request's body: that can neither be taken for the next request nor keep the
 * connection longer than it takes to read a bounded part of it, for `lingerMs` at most where that is given.
 */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  head: readonly string[],
  body: Buffer,
  lingerMs?: number,
): void {
  if (response.headersSent || response.destroyed) return;
  // What stopped coming is not waited for (RFC 9110 §15.5.9).
  const remainder = status === 408 && !request.complete ? 'close' : remainderOf(request);
  if (remainder === 'none' || remainder === 'kept') {
    response.writeHead(status, [...head]).end(body);
    if (remainder === 'kept') leaveUnread(request, response);
    return;
  }
  response.writeHead(status, [...head, 'Connection', 'close']);
  if (remainder === 'close') {
    response.end(body);
    return;
  }
  // The caller has the whole answer now; it ends, and with it the connection, when no more comes that would reset it.
  response.flushHeaders();
  response.write(body);
  drain(request, () => response.end(), lingerMs);
}
