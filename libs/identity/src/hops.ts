/** The most entries that are looked at, from the right. */
const MAX_HOPS = 32;

/**
 * The address behind trusted proxies, by what a forwarding field says, read from the right: entries of trusted proxies are passed over, the
 * first other one is the caller; a malformed one ends the walk at the hop before it.
 * @param peer the socket's address, itself trusted
 */
export function walk(entries: Iterable<string | undefined>, peer: string, trusted: (address: string) => boolean): string {
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
