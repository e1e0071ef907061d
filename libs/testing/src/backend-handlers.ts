import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Answers as soon as the body has arrived, with JSON (200 by default). */
export function answerJson(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (request, response) => {
    whenRead(request, () => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
  };
}

/** Waits before the head of the answer, then does what `next` does. */
export function answerAfter(delayMs: number, next: RequestListener = answerJson({ late: true })): RequestListener {
  return (request, response) => {
    void sleep(delayMs, undefined, { ref: false }).then(() => {
      if (!response.destroyed) next(request, response);
    });
  };
}

/** An error of the backend's own: 500 by default, with a JSON body. */
export function failWith(status = 500): RequestListener {
  return answerJson({ error: `the backend says ${status}` }, status);
}

/** Resets the connection (RST) instead of answering; with `afterBytes`, in the middle of the body. */
export function resetConnection(afterBytes = 0): RequestListener {
  return (_request, response) => {
    if (afterBytes === 0) {
      response.socket?.resetAndDestroy();
      return;
    }
    response.writeHead(200, { 'content-length': String(afterBytes * 2) });
    response.write(Buffer.alloc(afterBytes, 'x'), () => response.socket?.resetAndDestroy());
  };
}

/** A body in pieces, `gapMs` apart, without a content-length. */
export function drip(chunks: readonly string[], gapMs: number): RequestListener {
  const write = async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (const chunk of chunks) {
      if (response.destroyed) return;
      response.write(chunk);
      await sleep(gapMs, undefined, { ref: false });
    }
    response.end();
  };
  return (_request, response) => void write(response);
}

function whenRead(request: IncomingMessage, act: () => void): void {
  if (request.complete) act();
  else request.once('end', act).resume();
}
