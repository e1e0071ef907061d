import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { UpstreamFault } from './upstream-faults.js';

/**
 * A caller's body on its way to an upstream, piece by piece as the upstream takes it. It stands between the two so that an upstream that
 * ends early ends this, and not the caller's connection with the answer still on it.
 */
export class RequestBody extends Readable {
  private started = false;
  private released = false;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param onWanted before the first byte is read: the upstream is there and takes the body
   * @param idleMs how long the caller may pause between pieces
   */
  constructor(
    private readonly source: IncomingMessage,
    private readonly onWanted: () => void,
    private readonly idleMs: number,
  ) {
    super();
  }

  /** Nothing has been read: the body can still be sent by another attempt. */
  get untouched(): boolean {
    return !this.started;
  }

  override _read(): void {
    if (this.released) return;
    if (!this.started) this.start();
    this.source.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.release();
    callback(error);
  }

  /** Leaves the rest of the caller's body to whoever reads it on, once. */
  release(): void {
    clearTimeout(this.timer);
    if (this.released) return;
    this.released = true;
    if (!this.started) return;
    this.source.off('data', this.onData).off('end', this.onEnd).off('close', this.onClose);
    this.source.pause();
  }

  private start(): void {
    this.started = true;
    this.onWanted();
    this.source.on('data', this.onData).on('end', this.onEnd).on('close', this.onClose);
    this.timer = setTimeout(this.onIdle, this.idleMs).unref();
  }

  private readonly onData = (chunk: Buffer): void => {
    this.timer?.refresh();
    if (!this.push(chunk)) this.source.pause();
  };

  private readonly onEnd = (): void => {
    clearTimeout(this.timer);
    this.push(null);
  };

  private readonly onClose = (): void => {
    if (!this.source.readableEnded) this.destroy(new Error('the caller broke off its body'));
  };

  /** Waiting for the upstream is no pause of the caller's. */
  private readonly onIdle = (): void => {
    if (this.source.isPaused()) this.timer?.refresh();
    else this.destroy(new UpstreamFault('http_request_error'));
  };
}
