import ipaddr from 'ipaddr.js';
import { BlockList, isIP } from 'node:net';

/** The partition of callers whose connection has no address. */
export const NO_ADDRESS = 'unknown';

/**
 * An address as callers are counted: IPv4 as it is, IPv4 mapped into IPv6 as IPv4 (by its bits, however it is written), IPv6 by its
 * prefix, e.g. `2001:db8:1:2::/64`. A zone is left out.
 * @returns undefined for text that is no address in strict form
 */
export function partitionOfAddress(text: string, ipv6Prefix: number): string | undefined {
  const bare = withoutZone(text);
  switch (isIP(bare)) {
    case 4:
      return bare;
    case 6: {
      const address = ipaddr.IPv6.parse(bare);
      if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
      const bytes = address.toByteArray().map((byte, i) => maskByte(byte, ipv6Prefix - i * 8));
      return `${new ipaddr.IPv6(bytes).toRFC5952String()}/${ipv6Prefix}`;
    }
    default:
      return undefined;
  }
}

function maskByte(byte: number, bits: number): number {
  if (bits >= 8) return byte;
  return bits <= 0 ? 0 : byte & (0xff << (8 - bits)) & 0xff;
}

function withoutZone(text: string): string {
  const zone = text.indexOf('%');
  return zone < 0 ? text : text.slice(0, zone);
}

/** Which peers are believed about whom they speak for. */
export class TrustedProxies {
  private readonly list = new BlockList();
  private readonly any: boolean;

  constructor(entries: readonly string[]) {
    this.any = entries.length > 0;
    for (const entry of entries) {
      const [address = '', prefix] = entry.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      if (prefix === undefined) this.list.addAddress(address, family);
      else this.list.addSubnet(address, Number(prefix), family);
    }
  }

  has(text: string): boolean {
    if (!this.any) return false;
    const plain = partitionOfAddress(text, 128)?.replace(/\/128$/, '');
    return plain !== undefined && this.list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  }
}
