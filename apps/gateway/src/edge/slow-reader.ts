import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import { isHttp2 } from './unread-body.js';

/**
 * Lets go of a caller that takes nothing of an answer that is there for it: its connection, or its stream of HTTP/2, ends once no byte has moved
 * for `idleMs`.
 * @returns to be called when it has taken all of it
 */
export function cutWhenStalled(response: ServerResponse, idleMs: number): () => void {
  if (isHttp2(response.req)) {
    const { stream } = response as unknown as Http2ServerResponse;
    return bound(stream, idleMs, () => {
      stream.close(constants.NGHTTP2_CANCEL);
    });
  }
  return bound(response, idleMs, () => {
    response.destroy();
  });
}

/** Both kinds of timeout are about bytes: a caller that takes its answer slowly never meets them. */
function bound(timed: Timed, idleMs: number, cut: () => void): () => void {
  timed.setTimeout(idleMs, cut);
  return () => {
    timed.setTimeout(0);
    timed.off('timeout', cut);
  };
}

interface Timed {
  setTimeout(ms: number, onTimeout?: () => void): unknown;
  off(event: 'timeout', listener: () => void): unknown;
}
