import { StoreFault } from './store-fault.js';

/**
 * Bounds calls in time. When the timer fires, one poll phase is let pass before giving up: after a pause of our own (garbage
 * collection, a busy loop) the reply often lies in the socket already, and that must not look like a slow server.
 */
export class Deadline {
  constructor(private readonly deadlineMs: number) {}

  /** Settles as `reply` does, or rejects with a `deadline` fault; a reply after that is discarded and told to `onLate`. */
  race<T>(endsAtUs: number, reply: Promise<T>, onLate: () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let over = false;
      const giveUp = (): void => {
        over = true;
        reject(new StoreFault('deadline', `no reply within ${this.deadlineMs} ms`));
      };
      const leftMs = Math.max(1, Math.ceil(endsAtUs / 1000 - performance.now()));
      // setImmediate runs after the poll phase in which waiting replies are read; their callbacks clear `grace`.
      let grace: NodeJS.Immediate | undefined;
      const timer = setTimeout(() => (grace = setImmediate(giveUp)), leftMs);
      const settle = (): boolean => {
        clearTimeout(timer);
        if (grace !== undefined) clearImmediate(grace);
        if (over) onLate();
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
}
