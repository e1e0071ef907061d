/** The one form of a path in which it is matched and forwarded, or why there is none. */
export type CanonicalPath = { readonly path: string } | { readonly refused: string };

/** Nothing here can mean anything but itself, unless dots or slashes stand together. */
const PLAIN = /^\/[A-Za-z0-9_~!$&'()*+,;=:@/.-]*$/;
const UNRESERVED = /[A-Za-z0-9._~-]/;

/**
 * Makes a request target's path (no query) canonical: escapes of unreserved characters decoded, other escapes in upper case
 * (RFC 3986 §6.2.2). What could be read in two ways is refused: dot segments and empty segments in any spelling, encoded
 * slashes, backslashes and control characters, what is not UTF-8 (RFC 3629 §3: some decoders read overlong forms as other characters), escapes of escapes that would make such a thing one hop further.
 */
export function canonicalPath(raw: string): CanonicalPath {
  if (PLAIN.test(raw) && !raw.includes('//') && !raw.includes('/.')) return { path: raw };
  if (!raw.startsWith('/')) return { refused: 'it is no absolute path' };
  if (/[^\x21-\x7e]/.test(raw)) return { refused: 'it has a character that must be percent-encoded' };
  if (/["<>\\^`{|}#?]/.test(raw)) return { refused: 'it has a character that must be percent-encoded' };
  if (/%(?![0-9A-Fa-f]{2})/.test(raw)) return { refused: 'a percent sign does not start an escape' };
  const path = raw.replace(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return UNRESERVED.test(character) ? character : `%${hex.toUpperCase()}`;
  });
  if (/%(2F|5C)/.test(path)) return { refused: 'it has an encoded slash or backslash' };
  if (/%([01][0-9A-F]|7F)/.test(path)) return { refused: 'it has an encoded control character' };
  if (!isUtf8(path)) return { refused: 'it has an escape that is not UTF-8' };
  if (/%25(2[EF]|5C|00|25)/i.test(path)) return { refused: 'it is encoded twice' };
  if (path.includes('//')) return { refused: 'it has an empty segment' };
  if (/\/\.{1,2}((;|%3B)[^/]*)?(\/|$)/.test(path)) return { refused: 'it has a dot segment' };
  return { path };
}

function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
