/**
 * Why a store call gave no answer.
 * - `deadline`: no reply in time; whatever happens to the command later, it takes nothing.
 * - `connection`: not connected, or the connection broke.
 * - `overload`: too many calls are waiting for replies already.
 * - `reply`: the server answered with an error (LOADING, READONLY, OOM, WRONGPASS …); `code` is its first word.
 */
export type StoreFaultKind = 'deadline' | 'connection' | 'overload' | 'reply';

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
