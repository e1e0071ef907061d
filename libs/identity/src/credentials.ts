/** What a request presents; `conflicting` where one field comes twice with different values. */
export type Credentials = { readonly apiKey: string | undefined; readonly bearer: string | undefined } | 'conflicting';

const AUTHORIZATION = 'authorization';
/** The scheme alone makes it ours: what follows may be no token at all, and is then a bad one. */
const BEARER = /^bearer(?![!#$%&'*+.^`|~\w-])\s*(.*)$/is;

/**
 * Reads credentials off the fields as they were sent: Node joins or drops repeated ones, and an upstream may choose otherwise.
 * @param apiKeyHeader in lower case; undefined where there are no API keys
 * @param bearers whether bearer tokens are ours to read; else Authorization is the upstream's business
 */
export function readCredentials(rawHeaders: readonly string[], apiKeyHeader: string | undefined, bearers: boolean): Credentials {
  let apiKey: string | undefined;
  let authorization: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    if (apiKeyHeader !== undefined && is(name, apiKeyHeader)) {
      if (apiKey !== undefined && apiKey !== value) return 'conflicting';
      apiKey = value;
    } else if (bearers && is(name, AUTHORIZATION)) {
      if (authorization !== undefined && authorization !== value) return 'conflicting';
      authorization = value;
    }
  }
  return { apiKey, bearer: authorization === undefined ? undefined : BEARER.exec(authorization)?.[1] };
}

function is(name: string, lower: string): boolean {
  return name.length === lower.length && name.toLowerCase() === lower;
}
