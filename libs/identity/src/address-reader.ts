import { NO_ADDRESS, TrustedProxies, partitionOfAddress } from './addresses.js';
import type { RequestParts } from './caller.js';
import { forwarded } from './forwarded.js';
import { walk } from './hops.js';
import { xForwardedFor } from './x-forwarded-for.js';

/** Partitions of the most recent addresses; a full cache starts afresh. */
const MAX_CACHED = 10_000;

/** Which address a request counts on. */
export class AddressReader {
  private readonly proxies: TrustedProxies;
  private readonly cache = new Map<string, string>();

  constructor(
    trustedProxies: readonly string[],
    private readonly ipv6Prefix: number,
  ) {
    this.proxies = new TrustedProxies(trustedProxies);
  }

  trusts(peer: string | undefined): boolean {
    return peer !== undefined && this.proxies.has(peer);
  }

  /** In partition form; `unknown` where the connection has no address. */
  read({ peerAddress, rawHeaders }: RequestParts): string {
    if (peerAddress === undefined || peerAddress === '') return NO_ADDRESS;
    return this.partition(this.trusts(peerAddress) ? this.behind(peerAddress, rawHeaders) : peerAddress);
  }

  /** Where both fields are there they must agree: a proxy that writes one lets the other through as its caller wrote it. */
  private behind(peer: string, rawHeaders: readonly string[]): string {
    const trusted = (address: string): boolean => this.proxies.has(address);
    const xff = joined(rawHeaders, 'x-forwarded-for');
    const rfc7239 = joined(rawHeaders, 'forwarded');
    const byXff = xff === undefined ? undefined : walk(xForwardedFor(xff), peer, trusted);
    const byForwarded = rfc7239 === undefined ? undefined : walk(forwarded(rfc7239), peer, trusted);
    if (byXff !== undefined && byForwarded !== undefined) {
      return this.partition(byXff) === this.partition(byForwarded) ? byXff : peer;
    }
    return byXff ?? byForwarded ?? peer;
  }

  private partition(address: string): string {
    const known = this.cache.get(address);
    if (known !== undefined) return known;
    const key = copyOf(address);
    const partition = partitionOfAddress(key, this.ipv6Prefix) ?? NO_ADDRESS;
    if (this.cache.size >= MAX_CACHED) this.cache.clear();
    this.cache.set(key, partition);
    return partition;
  }
}

/** A part of a string keeps all of it alive: without a copy, each cached address would hold on to the field it came from. */
function copyOf(address: string): string {
  return Buffer.from(address, 'latin1').toString('latin1');
}

/** All lines of a field in their order, as one list. */
function joined(rawHeaders: readonly string[], name: string): string | undefined {
  let text: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] ?? '';
    if (field.length !== name.length || field.toLowerCase() !== name) continue;
    text = text === undefined ? (rawHeaders[i + 1] ?? '') : `${text},${rawHeaders[i + 1] ?? ''}`;
  }
  return text;
}
