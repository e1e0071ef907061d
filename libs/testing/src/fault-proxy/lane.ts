import type { Socket } from 'node:net';
import type { Wire } from './wire.js';

/** Beyond this, the sender is made to wait. */
const MOST_BYTES_HELD = 16 * 1024 * 1024;

/** Bytes, or how the stream ended, under way from one side to the other. */
interface Parcel {
  dueMs: number;
  what: Buffer | 'end' | 'reset';
}

/** What holds for the lanes of a proxy; read anew at every look. */
export interface LaneRules {
  readonly frozen: boolean;
  /** Whatever arrives now is lost. */
  readonly losing: boolean;
}

export interface LaneOptions {
  readonly rules: LaneRules;
  readonly wire: Wire;
  /** How long what arrives now stays under way, ms. */
  readonly delayMs: () => number;
  readonly onLoss: () => void;
}

/** One direction of one connection: what arrives from one socket leaves by the other in the same order, when it is due. */
export class Lane {
  private readonly parcels: Parcel[] = [];
  private bytesHeld = 0;
  private lastDueMs = 0;
  private full = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly options: LaneOptions,
  ) {
    from.on('data', (chunk: Buffer) => {
      this.take(chunk);
    });
    from.once('end', () => {
      this.take('end');
    });
    // Not at once: what the peer sent before it reset the connection is under way as well.
    from.on('error', () => {
      this.take('reset');
    });
    const accept = () => {
      this.full = false;
      this.move();
    };
    to.on('drain', accept).once('close', accept);
  }

  /** Looks again after the rules have changed. */
  readonly move = (): void => {
    clearTimeout(this.timer);
    while (!this.options.rules.frozen && !this.full) {
      const [next] = this.parcels;
      if (next === undefined) break;
      const waitMs = Math.max(next.dueMs, this.options.wire.freeFrom()) - performance.now();
      if (waitMs > 0) {
        this.timer = setTimeout(this.move, Math.ceil(waitMs)).unref();
        break;
      }
      this.deliver(next);
    }
    if (this.from.isPaused() && this.bytesHeld <= MOST_BYTES_HELD) this.from.resume();
  };

  /** Nothing under way is late any more. */
  hurry(): void {
    for (const parcel of this.parcels) parcel.dueMs = 0;
    this.lastDueMs = 0;
  }

  /** Loses what is under way. */
  lose(): void {
    if (this.parcels.length > 0) this.options.onLoss();
    this.parcels.length = 0;
    this.bytesHeld = 0;
  }

  private take(what: Parcel['what']): void {
    if (this.options.rules.losing) {
      this.options.onLoss();
      return;
    }
    this.lastDueMs = Math.max(this.lastDueMs, performance.now() + this.options.delayMs());
    this.parcels.push({ dueMs: this.lastDueMs, what });
    if (typeof what !== 'string') this.bytesHeld += what.length;
    if (this.bytesHeld > MOST_BYTES_HELD) this.from.pause();
    this.move();
  }

  private deliver(parcel: Parcel): void {
    const { what } = parcel;
    if (typeof what !== 'string') {
      const count = this.options.wire.occupy(performance.now(), what.length);
      this.bytesHeld -= count;
      // The receiver may have left: then it goes nowhere.
      if (this.to.writable) this.full = !this.to.write(what.subarray(0, count));
      if (count < what.length) {
        parcel.what = what.subarray(count);
        return;
      }
    } else if (what === 'end') this.to.end();
    else reset(this.to);
    this.parcels.shift();
  }
}

/** RST to the peer, where there is a connection. */
export function reset(socket: Socket): void {
  if (socket.connecting || socket.destroyed) socket.destroy();
  else socket.resetAndDestroy();
}
