import type { Duplex } from 'node:stream';
import { FrameWatch, closeFrame } from './websocket-frames.js';

/** "Going away" (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;
/** How long both sides have to take leave. */
const LEAVE_MS = 1000;

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

/** Joins two connections after an upgrade, with back-pressure; what ends one ends the other. */
export class Tunnel {
  private readonly down: Direction;
  private readonly up: Direction;
  private readonly idle: NodeJS.Timeout;

  constructor({ client, upstream, webSocket, idleMs, onClosed }: TunnelOptions) {
    this.idle = setTimeout(() => {
      this.close();
    }, idleMs).unref();
    const onBytes = (): void => {
      this.idle.refresh();
    };
    this.down = new Direction(upstream, client, webSocket ? { watch: new FrameWatch(), masked: false } : undefined, onBytes);
    this.up = new Direction(client, upstream, webSocket ? { watch: new FrameWatch(), masked: true } : undefined, onBytes);
    let open = 2;
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => one.destroy());
      one.once('close', () => {
        other.destroy();
        clearTimeout(this.idle);
        open -= 1;
        if (open === 0) onClosed();
      });
    }
  }

  /** Says goodbye to both sides at the end of the frame that is on its way, and closes. */
  close(): void {
    clearTimeout(this.idle);
    this.down.leave();
    this.up.leave();
    setTimeout(() => {
      this.down.destroy();
      this.up.destroy();
    }, LEAVE_MS);
  }
}

interface Frames {
  readonly watch: FrameWatch;
  readonly masked: boolean;
}

class Direction {
  private leaving = false;
  private left = false;

  constructor(
    private readonly from: Duplex,
    private readonly to: Duplex,
    private readonly frames: Frames | undefined,
    private readonly onBytes: () => void,
  ) {
    from.on('data', this.onData);
    from.once('end', () => {
      if (!this.left) to.end();
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
    this.onBytes();
    if (this.left) return;
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
