import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { toBase62 } from './base62.js';

/** A shorter pepper could be guessed from a digest and its key. */
export const MIN_PEPPER_LENGTH = 16;

/** So that secret scanners find it. */
const PREFIX = 'esc_';
/** 256 bits in base 62. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new key: prefix, 256 random bits, and a checksum that tells a mistyped key from a wrong one without any look-up. */
export function createApiKey(): string {
  const body = PREFIX + toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);
  return body + checksum(body);
}

/** Whether a text can be one of our keys at all. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** What is stored of a key: HMAC-SHA-256 under a pepper that is kept apart from the file, as 64 hex digits. */
export function digestApiKey(pepper: string, key: string): string {
  return createHmac('sha256', pepper).update(key).digest('hex');
}

/** How a key is called where it must not be shown: in buckets, logs and files. */
export function apiKeyId(digest: string): string {
  return `k_${digest.slice(0, 12)}`;
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}
