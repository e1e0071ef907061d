/**
 * Checks a REDIS_URL: `redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS.
 * @returns what is wrong with it, or undefined.
 */
export function redisUrlProblem(text: string): string | undefined {
  if (/^redis\+(cluster|sentinel):/.test(text)) {
    return 'redis+cluster:// and redis+sentinel:// are not supported in this version; give redis://host:port or rediss://host:port';
  }
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text)) return 'must be redis://[user:password@]host[:port][/db] or rediss://…';
  const url = new URL(text);
  if (url.hostname === '') return 'names no host';
  if (!/^(\/\d*)?$/.test(url.pathname)) return 'the path must be a database number';
  return undefined;
}
