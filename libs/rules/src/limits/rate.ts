export interface Rate {
  readonly refillTokens: number;
  readonly refillSeconds: number;
}

const DECIMAL = /^(\d{1,15})(?:\.(\d{1,15}))?(?:e([+-]?\d{1,2}))?$/;
const FRACTION = /^(\d{1,15})\/(\d{1,15})$/;

const MOST_PER_SECOND = 1_000_000n;
const SECONDS_AT_LEAST_ONE_IN = 2_592_000n;

/** A number or a fraction `a/b` as a reduced integer pair: 0.1 is exactly 1/10. @returns undefined where the text is neither, or 0 */
export function readRate(given: number | string): Rate | undefined {
  const pair = typeof given === 'number' ? readDecimal(String(given)) : readFraction(given);
  if (pair === undefined || pair[0] === 0n || pair[1] === 0n) return undefined;
  const divisor = gcd(pair[0], pair[1]);
  return { refillTokens: Number(pair[0] / divisor), refillSeconds: Number(pair[1] / divisor) };
}

/** @throws Error where it is no rate; validation has seen it before. */
export function parseRate(given: number | string): Rate {
  const rate = readRate(given);
  if (rate === undefined) throw new Error(`not a rate: ${given}`);
  return rate;
}

/** From one in 30 days to a million a second, and exact: the twins multiply the pair's halves below 2^53. */
export function isUsableRate({ refillTokens, refillSeconds }: Rate): boolean {
  const [tokens, seconds] = [BigInt(refillTokens), BigInt(refillSeconds)];
  if (tokens > MOST_PER_SECOND * seconds || tokens * SECONDS_AT_LEAST_ONE_IN < seconds) return false;
  return (tokens + 1n) * (seconds + 1n) <= BigInt(Number.MAX_SAFE_INTEGER);
}

function readFraction(text: string): readonly [bigint, bigint] | undefined {
  const match = FRACTION.exec(text);
  return match === null ? undefined : [BigInt(match[1] ?? ''), BigInt(match[2] ?? '')];
}

function readDecimal(text: string): readonly [bigint, bigint] | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? [digits * 10n ** BigInt(shift), 1n] : [digits, 10n ** BigInt(-shift)];
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}
