/**
 * Why a store call gave no answer.
 * - `deadline`: no reply in time; whatever happens to the command later, it takes nothing.
 * - `connection`: not connected, or the connection broke.
 * - `overload`: too many calls are waiting for replies already.
 * - `breaker`: not asked, since it did not answer others.
 * - `reply`: the server answered with an error (LOADING, READONLY, OOM, WRONGPASS …); `code` is its first word.
 */
export type StoreFaultKind = 'deadline' | 'connection' | 'overload' | 'breaker' | 'reply';

/** A fault of the store, never a verdict. Every kind takes the route's failure mode. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';

  constructor(
    readonly kind: StoreFaultKind,
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

/** ioredis tells the server's error replies apart by class name only; everything else it throws is about the connection. */
export function toFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === 'ReplyError') return new StoreFault('reply', message, message.split(' ', 1)[0]);
  return new StoreFault('connection', message);
}
