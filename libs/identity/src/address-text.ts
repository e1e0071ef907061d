import { isIP } from 'node:net';

/** Longer text is no address, whatever its zone; keeps patterns off hostile fields. */
const MAX_LENGTH = 100;

/** An address out of a forwarding field, without brackets and port; undefined unless it is one in strict form. */
export function addressIn(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined;
  const address = /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return isIP(address) === 0 ? undefined : address;
}
