import { addressIn } from './address-text.js';

/** X-Forwarded-For from the right: addresses, or undefined for what is none. Cuts no more off a long text than is asked for. */
export function* xForwardedFor(text: string): IterableIterator<string | undefined> {
  let end = text.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    yield addressIn(text.slice(comma + 1, end).trim());
    end = comma;
  }
}
