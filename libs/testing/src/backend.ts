import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerJson } from './backend-handlers.js';

/** What arrived; the fields from `bodyBytes` on change while the request goes on. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value … as sent: repeated fields are seen here. */
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: number;
  /** The body as text, as far as it has arrived. */
  readonly bodyText: string;
  /** The body has arrived in full. */
  readonly complete: boolean;
  /** The other side left before it had its whole answer. */
  readonly aborted: boolean;
}

export interface Backend {
  /** `http://127.0.0.1:PORT`, no trailing slash. */
  readonly url: string;
  readonly port: number;
  /** In the order in which their heads arrived. */
  readonly requests: readonly RecordedRequest[];
  /** From the next request on. */
  handleWith(handler: RequestListener): void;
  /** Forgets the recorded requests. */
  forget(): void;
  /** Cuts all connections. */
  close(): Promise<void>;
}

/**
 * A plain HTTP upstream on a free loopback port that records what it gets. The handler is called as soon as a request's head is
 * there (`answerJson`, `answerAfter`, `failWith`, `resetConnection`, `drip`, or any of your own); by default 200 and `{"ok":true}`.
 */
export async function startBackend(handler: RequestListener = answerJson({ ok: true })): Promise<Backend> {
  let current = handler;
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    requests.push(record(request, response));
    current(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    handleWith: (next) => {
      current = next;
    },
    forget: () => {
      requests.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function record(request: IncomingMessage, response: ServerResponse): RecordedRequest {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    get bodyBytes() {
      return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    },
    get bodyText() {
      return Buffer.concat(chunks).toString();
    },
    get complete() {
      return request.complete;
    },
    get aborted() {
      return response.closed && !response.writableFinished;
    },
  };
}
