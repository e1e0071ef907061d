import type { ServerResponse, IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface ForwardEvents {
  /** The response head as it goes to the caller, name and value in turn, from the upstream's bytes. */
  readonly head: (rawHeaders: readonly Buffer[]) => string[];
  /** The head is out: from here on the answer is the upstream's. */
  readonly started: () => void;
  /** The upstream failed before its response head: the caller can still get an honest answer. */
  readonly failed: (error: Error) => void;
}

/**
 * Writes an upstream's response straight onto the caller's, chunk by chunk, as fast as the caller reads. Once the head is out
 * a broken upstream ends the caller's connection: a cut-off body must not look whole.
 */
export class ForwardHandler implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly events: ForwardEvents,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.response.destroyed) this.cancel();
  }

  /** A head that cannot be sent on (a field with a control character) throws here, and undici turns that into `onResponseError`. */
  onResponseStart(controller: Dispatcher.DispatchController, status: number, _headers: IncomingHttpHeaders, statusText?: string): void {
    if (status < 200) return;
    const head = this.events.head(controller.rawHeaders as readonly Buffer[]);
    if (statusText === undefined || statusText === '') this.response.writeHead(status, head);
    else this.response.writeHead(status, statusText, head);
    this.events.started();
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
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.response.destroyed) return;
    if (this.response.headersSent) this.response.destroy(error);
    else this.events.failed(error);
  }

  /** The caller has gone: so does the upstream call. */
  cancel(): void {
    this.controller?.abort(new Error('the caller closed the connection'));
  }
}
