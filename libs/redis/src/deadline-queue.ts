import type { LoopLag } from './loop-lag.js';
import { StoreFault } from './store-fault.js';

interface Waiting {
  readonly startedAtUs: number;
  readonly giveUp: () => void;
  before: Waiting | undefined;
  after: Waiting | undefined;
}

/** Microseconds on the monotonic clock. */
export const monotonicUs = (): number => Math.floor(performance.now() * 1000);

/**
 * The deadline of all calls to a store: one timer, since all have the same time. When it fires, one poll phase is let pass before giving up: after
 * a pause of our own (garbage collection, a busy loop) replies often lie in the socket already, and that must not look like a slow server.
 */
export class DeadlineQueue {
  /** Oldest first. */
  private first: Waiting | undefined;
  private last: Waiting | undefined;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param deadlineMs of every call
   * @param lag by which our own busy loop moves it back
   * @param onLate told when a reply comes after giving up; it is discarded
   */
  constructor(
    private readonly deadlineMs: number,
    private readonly lag: LoopLag,
    private readonly onLate: () => void,
  ) {}

  /** When a call that started then is over, as far as is known now; our own long turns may move it back, never forth. In µs. */
  endOf(startedAtUs: number): number {
    return startedAtUs + Math.floor((this.deadlineMs + this.lag.extensionMs) * 1000);
  }

  /** Settles as `reply` does, or rejects with a `deadline` fault. */
  within<T>(startedAtUs: number, reply: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let over = false;
      const waiting = this.add(startedAtUs, () => {
        over = true;
        reject(new StoreFault('deadline', `no reply within ${Math.round((monotonicUs() - startedAtUs) / 1000)} ms`));
      });
      const settle = (): boolean => {
        if (over) this.onLate();
        else this.remove(waiting);
        return !over;
      };
      reply.then(
        (value) => {
          if (settle()) resolve(value);
        },
        (error: unknown) => {
          if (settle()) reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  private add(startedAtUs: number, giveUp: () => void): Waiting {
    // A second attempt keeps the start of its first, so it may belong before younger ones.
    let before = this.last;
    while (before !== undefined && before.startedAtUs > startedAtUs) ({ before } = before);
    const after = before === undefined ? this.first : before.after;
    const waiting: Waiting = { startedAtUs, giveUp, before, after };
    if (before === undefined) this.first = waiting;
    else before.after = waiting;
    if (after === undefined) this.last = waiting;
    else after.before = waiting;
    if (this.timer === undefined || before === undefined) this.arm(waiting);
    return waiting;
  }

  private remove({ before, after }: Waiting): void {
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
  }

  private arm({ startedAtUs }: Waiting): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.look, Math.max(1, Math.ceil((this.endOf(startedAtUs) - monotonicUs()) / 1000)));
  }

  /** Calls settle long before their time as a rule, so the timer mostly finds a younger call, and waits for that one. */
  private readonly look = (): void => {
    const { first } = this;
    this.timer = undefined;
    if (first === undefined) return;
    if (this.endOf(first.startedAtUs) > monotonicUs()) {
      this.arm(first);
      return;
    }
    // setImmediate runs after the poll phase in which waiting replies are read; their callbacks take them out.
    setImmediate(() => {
      this.expire();
      if (this.first !== undefined) this.arm(this.first);
    });
  };

  private expire(): void {
    const nowUs = monotonicUs();
    while (this.first !== undefined && this.endOf(this.first.startedAtUs) <= nowUs) {
      const { first } = this;
      this.remove(first);
      first.giveUp();
    }
  }
}
