import { StoreFault } from './store-fault.js';

export interface DeadlineOptions {
  readonly startedAtUs: number;
  /** When a call that started then has to be over; asked again when that time comes, for it may have moved back meanwhile. */
  readonly endOf: (startedAtUs: number) => number;
  /** Told when a reply comes after giving up; it is discarded. */
  readonly onLate: () => void;
}

/**
 * Settles as `reply` does, or rejects with a `deadline` fault. When the timer fires, one poll phase is let pass before giving up: after a
 * pause of our own (garbage collection, a busy loop) the reply often lies in the socket already, and that must not look like a slow
 * server.
 */
export function withinDeadline<T>(reply: Promise<T>, { startedAtUs, endOf, onLate }: DeadlineOptions): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let over = false;
    let timer: NodeJS.Timeout | undefined;
    let grace: NodeJS.Immediate | undefined;
    const leftMs = (): number => endOf(startedAtUs) / 1000 - performance.now();
    const arm = (): void => {
      timer = setTimeout(look, Math.max(1, Math.ceil(leftMs())));
    };
    const look = (): void => {
      // setImmediate runs after the poll phase in which waiting replies are read; their callbacks clear `grace`.
      if (leftMs() > 0) arm();
      else grace = setImmediate(giveUp);
    };
    const giveUp = (): void => {
      over = true;
      reject(new StoreFault('deadline', `no reply within ${Math.round(performance.now() - startedAtUs / 1000)} ms`));
    };
    const settle = (): boolean => {
      clearTimeout(timer);
      clearImmediate(grace);
      if (over) onLate();
      return !over;
    };
    arm();
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
