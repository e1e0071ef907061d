import type { Duplex } from 'node:stream';
import { FrameWatch, closeFrame } from './websocket-frames.js';

/** "Going away" (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;
/** How long is left once one side has gone or is asked to. */
const LEAVE_MS = 750;

export interface TunnelOptions {
  readonly client: Duplex;
  readonly upstream: Duplex;
  /** Frames are followed, so that the end can be announced between two of them; other protocols are just closed. */
  readonly webSocket: boolean;
  /** Without a byte in either direction. */
  readonly idleMs: number;
  /** Once, when both connections are closed. */
  readonly onClosed: () => void;
}

/** Joins two connections after an upgrade, with back-pressure. */
export class Tunnel {
  private readonly down: Direction;
  private readonly up: Direction;
  private readonly idle: NodeJS.Timeout;
  private last: NodeJS.Timeout | undefined;

  constructor({ client, upstream, webSocket, idleMs, onClosed }: TunnelOptions) {
    this.idle = setTimeout(() => {
      this.close();
    }, idleMs).unref();
    const direction = (from: Duplex, to: Duplex, masked: boolean): Direction =>
      new Direction(from, to, {
        frames: webSocket ? { watch: new FrameWatch(), masked } : undefined,
        onBytes: () => this.idle.refresh(),
        onEnd: () => {
          // A WebSocket is over when one side has closed (RFC 6455 §7.1.1); other protocols may go on in one direction.
          if (webSocket) this.lastWords();
        },
      });
    this.down = direction(upstream, client, false);
    this.up = direction(client, upstream, true);
    let open = 2;
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => one.destroy());
      one.once('close', () => {
        open -= 1;
        if (open > 0) {
          // Broken off; or what is on its way to the other side may still arrive.
          if (one.errored !== null) other.destroy();
          else
            other.end(() => {
              this.lastWords();
            });
          return;
        }
        clearTimeout(this.idle);
        clearTimeout(this.last);
        onClosed();
      });
    }
  }

  /** Says goodbye to both sides at the end of the frame that is on its way, and closes. */
  close(): void {
    this.down.leave();
    this.up.leave();
    this.lastWords();
  }

  private lastWords(): void {
    this.last ??= setTimeout(() => {
      this.down.destroy();
      this.up.destroy();
    }, LEAVE_MS);
  }
}

interface Frames {
  readonly watch: FrameWatch;
  readonly masked: boolean;
}

interface DirectionOptions {
  readonly frames: Frames | undefined;
  readonly onBytes: () => void;
  /** The side that is read from sends no more. */
  readonly onEnd: () => void;
}

class Direction {
  private leaving = false;
  private left = false;
  private readonly frames: Frames | undefined;

  constructor(
    private readonly from: Duplex,
    private readonly to: Duplex,
    private readonly options: DirectionOptions,
  ) {
    this.frames = options.frames;
    from.on('data', this.onData);
    from.once('end', () => {
      if (!this.left) to.end();
      options.onEnd();
    });
    to.on('drain', () => from.resume());
  }

  leave(): void {
    this.leaving = true;
    if (this.frames?.watch.atBoundary !== false) this.finish();
  }

  destroy(): void {
    this.from.destroy();
  }

  private readonly onData = (chunk: Buffer): void => {
    this.options.onBytes();
    if (this.left || this.to.writableEnded) return;
    const passed = this.frames?.watch.pass(chunk, this.leaving) ?? chunk.length;
    if (!this.to.write(passed === chunk.length ? chunk : chunk.subarray(0, passed))) this.from.pause();
    if (this.leaving && this.frames?.watch.atBoundary === true) this.finish();
  };

  private finish(): void {
    if (this.left) return;
    this.left = true;
    // What still comes is read and forgotten, so that the other side's own goodbye does not reset the connection.
    this.from.resume();
    if (this.frames === undefined) this.to.end();
    else this.to.end(closeFrame(GOING_AWAY, this.frames.masked));
  }
}
