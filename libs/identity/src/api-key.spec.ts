import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyFileError, appendApiKey, parseKeyFile, removeApiKey } from './api-key-file.js';
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
    expect(apiKeyId(digest)).toMatch(/^k_[0-9a-f]{12}$/);
  });
});

describe('the key file', () => {
  const file = (): string => join(mkdtempSync(join(tmpdir(), 'esclusa-')), 'keys.yaml');
  const entry = (tenant: string) => {
    const digest = digestApiKey('a pepper', createApiKey());
    return { id: apiKeyId(digest), digest, tenant, createdAt: '2026-12-01T00:00:00Z' };
  };

  it('is made where there is none, for its owner alone, and keeps its comments', () => {
    const path = file();
    const [one, two] = [entry('a'), entry('b')];
    appendApiKey(path, one);
    writeFileSync(path, `# ours\n${readFileSync(path, 'utf8')}`);
    appendApiKey(path, { ...two, user: 'u' });
    expect(parseKeyFile(path, readFileSync(path, 'utf8'))).toMatchObject([one, { ...two, user: 'u' }]);
    expect(readFileSync(path, 'utf8')).toContain('# ours');
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('loses a key by its id', () => {
    const path = file();
    const [one, two] = [entry('a'), entry('b')];
    appendApiKey(path, one);
    appendApiKey(path, two);
    expect(removeApiKey(path, one.id)).toBe(true);
    expect(removeApiKey(path, one.id)).toBe(false);
    expect(parseKeyFile(path, readFileSync(path, 'utf8'))).toMatchObject([two]);
  });

  it.each([
    ['version: 2\nkeys: []', /version: allowed: 1/],
    ['version: 1', /keys: allowed: a list/],
    [
      'version: 1\nkeys: [{ id: k_000000000000, digest: esc_secret, tenant: a, createdAt: x }]',
      /keys\[0\]\.digest: allowed: 64 hex digits/,
    ],
    ['version: 1\nkeys: []\nextra: 1', /extra/],
    ['[]', /allowed: a mapping/],
    ['', /allowed: a mapping/],
    ['version: [', /keys\.yaml: /],
  ])('KEY-13: %j is refused, saying where and what is allowed but not what was found', (text, told) => {
    expect(() => parseKeyFile('keys.yaml', text)).toThrow(KeyFileError);
    expect(() => parseKeyFile('keys.yaml', text)).toThrow(told);
    expect(() => parseKeyFile('keys.yaml', text)).not.toThrow('secret');
  });
});
