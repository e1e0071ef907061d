/** Fields that speak of one connection only (RFC 9110 §7.6.1), and those that this hop answers itself. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @param name in lower case */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name);
}

/** Further fields that end at this hop, by what a Connection field names; undefined where it names none. */
export function namedByConnection(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}
