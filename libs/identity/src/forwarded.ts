import { isIP } from 'node:net';

/** The most entries that are looked at, from the right. */
const MAX_HOPS = 32;

/**
 * The address behind trusted proxies, by what forwarding fields say, read from the right: entries of trusted proxies are passed over, the
 * first other one is the caller; a malformed one ends the walk at the hop before it.
 * @param peer the socket's address, itself trusted
 */
export function walk(entries: IterableIterator<string | undefined>, peer: string, trusted: (address: string) => boolean): string {
  let last = peer;
  let hops = 0;
  for (const address of entries) {
    hops += 1;
    if (address === undefined || hops > MAX_HOPS) return last;
    last = address;
    if (!trusted(address)) return last;
  }
  return last;
}

/** X-Forwarded-For from the right: addresses, or undefined for what is none. */
export function* xForwardedFor(text: string): IterableIterator<string | undefined> {
  for (const part of fromRight(text)) yield addressIn(part);
}

/** Forwarded (RFC 7239 §4) from the right: the `for` of each element. */
export function* forwarded(text: string): IterableIterator<string | undefined> {
  for (const element of fromRight(text)) {
    const value = /(?:^|;)\s*for=("[^"]*"|[^;"\s]*)\s*(?:;|$)/i.exec(element)?.[1];
    yield value === undefined ? undefined : addressIn(value.replace(/^"|"$/g, ''));
  }
}

/** The parts of a comma list, last first, without cutting up all of a long text. */
function* fromRight(text: string): IterableIterator<string> {
  let end = text.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1);
    yield text.slice(comma + 1, end).trim();
    end = comma;
  }
}

/** An address without brackets, port or zone; undefined unless it is one in strict form. */
function addressIn(text: string): string | undefined {
  const bracketed = /^\[([^\]]{1,64})\](?::\d{1,5})?$/.exec(text)?.[1];
  const ported = /^([\d.]{7,15}):\d{1,5}$/.exec(text)?.[1];
  const candidate = (bracketed ?? ported ?? text).split('%', 1)[0] ?? '';
  return isIP(candidate) === 0 ? undefined : candidate;
}
