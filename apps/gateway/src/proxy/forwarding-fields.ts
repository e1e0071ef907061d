import { isIP } from 'node:net';
import { forwardedAddresses } from '#libs/identity';

/** The connection that a request came in on, as the next hop is told of it. */
export interface Hop {
  /** Who connected to us; undefined where the socket has no address. */
  readonly peerAddress: string | undefined;
  /** Whether what the peer says about earlier hops is believed and added to; it is replaced otherwise. */
  readonly trustedPeer: boolean;
  readonly proto: 'http' | 'https';
  /** Of HTTP, as it came in. */
  readonly version: string;
  /** The host that the caller asked for. */
  readonly host: string | undefined;
  /** Our own name. */
  readonly edge: string;
}

/** What a request said about the hops before us, each field's lines joined. */
export interface EarlierHops {
  xForwardedFor?: string;
  xForwardedProto?: string;
  xForwardedHost?: string;
  forwarded?: string;
}

/** X-Forwarded-For, -Proto and -Host, Forwarded (RFC 7239) and Via (RFC 9110 §7.6.3), name and value in turn. The first two always tell the same. */
export function forwardingFields(hop: Hop, said: Readonly<EarlierHops>): string[] {
  const earlier = hop.trustedPeer ? said : {};
  const fields: string[] = [];
  const peer = hop.peerAddress === undefined ? undefined : plainAddress(hop.peerAddress);
  const chain = earlier.xForwardedFor ?? (earlier.forwarded === undefined ? undefined : chainOf(earlier.forwarded));
  const xff = join(chain, peer);
  if (xff !== undefined) fields.push('x-forwarded-for', xff);
  fields.push('x-forwarded-proto', earlier.xForwardedProto ?? hop.proto);
  const host = earlier.xForwardedHost ?? hop.host;
  if (host !== undefined) fields.push('x-forwarded-host', host);
  const elements = earlier.forwarded ?? (earlier.xForwardedFor === undefined ? undefined : elementsOf(earlier.xForwardedFor));
  fields.push('forwarded', join(elements, elementOf(hop, peer)) ?? '');
  fields.push('via', `${hop.version} ${hop.edge}`);
  return fields;
}

/** Whether a Via field (RFC 9110 §7.6.3) names us already: the request goes in a circle. */
export function passedUsBefore(via: string | undefined, edge: string): boolean {
  const us = edge.toLowerCase();
  const hops = via?.toLowerCase();
  if (hops?.includes(us) !== true) return false;
  return hops.split(',').some((hop) => hop.trim().split(/[ \t]+/)[1] === us);
}

/** One element of Forwarded: `for` in quotes and brackets where it is IPv6, `by` as an obfuscated name (RFC 7239 §6.3). */
function elementOf({ host, proto, edge }: Hop, peer: string | undefined): string {
  const asked = host === undefined ? '' : `host="${host}";`;
  return `for=${peer === undefined ? 'unknown' : nodeOf(peer)};${asked}proto=${proto};by=_${edge}`;
}

function nodeOf(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address;
}

/** IPv4 as itself where a dual-stack socket writes it as IPv6. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** The nodes of a Forwarded field as X-Forwarded-For has them. */
function chainOf(forwarded: string): string {
  return forwardedAddresses(forwarded)
    .map((address) => address ?? 'unknown')
    .join(', ');
}

/** The entries of X-Forwarded-For as elements of Forwarded; what is no plain address is passed on as unknown. */
function elementsOf(xForwardedFor: string): string {
  return xForwardedFor
    .split(',')
    .map((entry) => entry.trim())
    .map((entry) => `for=${isIP(entry) === 0 ? 'unknown' : nodeOf(entry)}`)
    .join(', ');
}

function join(before: string | undefined, ours: string | undefined): string | undefined {
  if (before === undefined || before === '') return ours;
  return ours === undefined ? before : `${before}, ${ours}`;
}
