import { describe, expect, it } from '@jest/globals';
import { apiKeyId, createApiKey, digestApiKey, looksLikeApiKey } from './api-key.js';

describe('API keys', () => {
  it('carry a prefix for secret scanners and a checksum that a slip of the pen breaks', () => {
    const key = createApiKey();
    expect(key).toMatch(/^esc_[0-9A-Za-z]{49}$/);
    expect(looksLikeApiKey(key)).toBe(true);
    const slipped = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
    for (const text of [slipped, key.slice(0, -1), `${key}x`, key.toUpperCase(), '', 'esc_']) expect(looksLikeApiKey(text)).toBe(false);
    expect(new Set(Array.from({ length: 100 }, createApiKey)).size).toBe(100);
  });

  it('are stored as digests under a pepper, and called by an id that shows neither', () => {
    const key = createApiKey();
    const digest = digestApiKey('pepper one', key);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(digestApiKey('pepper two', key)).not.toBe(digest);
    expect(apiKeyId(digest)).toBe(`k_${digest.slice(0, 12)}`);
  });
});
