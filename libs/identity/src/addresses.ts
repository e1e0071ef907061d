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
  switch (isIP(text)) {
    case 4:
      return text;
    case 6: {
      const address = ipaddr.IPv6.parse(inHex(withoutZone(text)));
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

/** Without a dotted tail: ipaddr.js goes by the notation and takes `::1.2.3.4`, which is IPv6, for a mapped address. */
function inHex(text: string): string {
  if (!text.includes('.')) return text;
  const tail = text.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = text.slice(tail).split('.').map(Number);
  return `${text.slice(0, tail)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** Which peers are believed about whom they speak for. */
export class TrustedProxies {
  private readonly list = new BlockList();
  private readonly any: boolean;

  /** @throws Error for an entry that is neither an address nor a CIDR */
  constructor(entries: readonly string[]) {
    this.any = entries.length > 0;
    for (const entry of entries) this.add(entry);
  }

  has(text: string): boolean {
    if (!this.any) return false;
    const plain = partitionOfAddress(text, 128)?.replace(/\/128$/, '');
    return plain !== undefined && this.list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  }

  /** A length left empty must not be read as 0, which would trust everybody. */
  private add(entry: string): void {
    const [address = '', prefix, ...more] = entry.split('/');
    const bits = isIP(address) === 6 ? 128 : 32;
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (isIP(address) === 0 || length < 0 || length > bits || more.length > 0) {
      throw new Error(`trusted proxy ${JSON.stringify(entry)}: allowed: an address such as 10.0.0.1 or a CIDR such as 10.0.0.0/8`);
    }
    this.list.addSubnet(address, length, bits === 128 ? 'ipv6' : 'ipv4');
  }
}
