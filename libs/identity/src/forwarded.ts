import { addressIn } from './address-text.js';

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A longer element is malformed: real ones are far shorter, and hostile ones must not cost much. */
const MAX_ELEMENT = 4096;

/** A pair and the semicolon after it (RFC 7239 §4); pairs may be empty, values are taken without quotes where they need none. */
const PAIR = /(?:([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,\\]*)))?\s*;\s*/y;

/** Forwarded (RFC 7239 §4) from the right: the address in the `for` of each element, or undefined where there is none. */
export function* forwarded(text: string): IterableIterator<string | undefined> {
  for (const element of elementsFromRight(text)) {
    const node = element === undefined ? undefined : nodeOf(element);
    yield node === undefined ? undefined : addressIn(node);
  }
}

/**
 * The elements, last first. Commas inside quotes part nothing: a proxy's `host="…"` holds what its caller wrote. Quotes are paired from the
 * right, so that an open one further left cannot swallow what trusted proxies appended. Ends with undefined at one that is too long.
 */
function* elementsFromRight(text: string): IterableIterator<string | undefined> {
  let end = text.length;
  let quoted = false;
  for (let i = end - 1; i >= 0; i -= 1) {
    if (end - i > MAX_ELEMENT) {
      yield undefined;
      return;
    }
    const char = text.charCodeAt(i);
    if (char === QUOTE && !isEscaped(text, i)) quoted = !quoted;
    if (char !== COMMA || quoted) continue;
    yield text.slice(i + 1, end);
    end = i;
  }
  yield text.slice(0, end);
}

function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (start > 0 && text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

/** The one `for` of an element; undefined where there is none, where there are two, or where the element is malformed. */
function nodeOf(element: string): string | undefined {
  const pairs = `${element.trim()};`;
  let node: string | undefined;
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < pairs.length) {
    const pair = PAIR.exec(pairs);
    if (pair === null) return undefined;
    if (pair[1]?.toLowerCase() !== 'for') continue;
    if (node !== undefined) return undefined;
    node = pair[2] ?? pair[3];
  }
  return node;
}

/** All addresses that a Forwarded field names, the caller's end first; undefined for an element without one. */
export function forwardedAddresses(text: string): readonly (string | undefined)[] {
  return [...forwarded(text)].reverse();
}
