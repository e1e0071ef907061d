import { describe, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { apiKeyId, createApiKey, digestApiKey } from './api-key.js';
import { KeyFileError, parseKeyFile, type ApiKeyEntry } from './api-key-file.js';
import { appendApiKey, removeApiKey } from './change-api-keys.js';

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'esclusa-')), 'keys.yaml');
const read = (file: string): readonly ApiKeyEntry[] => parseKeyFile(file, readFileSync(file, 'utf8'));
const newEntry = (tenant: string): ApiKeyEntry => {
  const digest = digestApiKey('a pepper', createApiKey());
  return { id: apiKeyId(digest), digest, tenant, createdAt: '2026-12-01T00:00:00Z' };
};

describe('the key file', () => {
  it('is made where there is none, for its owner alone, and leaves nothing beside it', () => {
    const file = newFile();
    const entry = newEntry('a');
    appendApiKey(file, entry);
    expect(read(file)).toMatchObject([entry]);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readdirSync(dirname(file))).toEqual(['keys.yaml']);
  });

  it('keeps its comments and who may read it', () => {
    const file = newFile();
    const [one, two] = [newEntry('a'), { ...newEntry('a tenant '.repeat(20).trim()), user: 'u' }];
    appendApiKey(file, one);
    writeFileSync(file, `# ours\n${readFileSync(file, 'utf8')}`);
    chmodSync(file, 0o644);
    appendApiKey(file, two);
    expect(read(file)).toMatchObject([one, two]);
    expect(readFileSync(file, 'utf8')).toContain('# ours');
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });

  it('loses a key by its id, down to the last one', () => {
    const file = newFile();
    const [one, two] = [newEntry('a'), newEntry('b')];
    appendApiKey(file, one);
    appendApiKey(file, two);
    expect(removeApiKey(file, one.id)).toBe(true);
    expect(removeApiKey(file, one.id)).toBe(false);
    expect(read(file)).toMatchObject([two]);
    expect(removeApiKey(file, two.id)).toBe(true);
    expect(read(file)).toEqual([]);
  });

  it('behind a symbolic link is changed where it is', () => {
    const file = newFile();
    const link = join(dirname(file), 'link.yaml');
    symlinkSync(file, link);
    appendApiKey(file, newEntry('a'));
    appendApiKey(link, newEntry('b'));
    expect(read(file)).toHaveLength(2);
  });

  it('stays as it was where the entry, or the file itself, is bad', () => {
    const file = newFile();
    appendApiKey(file, newEntry('a'));
    const before = readFileSync(file, 'utf8');
    expect(() => {
      appendApiKey(file, { ...newEntry('b'), user: '' });
    }).toThrow(/keys\[1\]\.user: allowed/);
    expect(readFileSync(file, 'utf8')).toBe(before);
    writeFileSync(file, 'version: 7');
    expect(() => removeApiKey(file, 'k_000000000000')).toThrow(KeyFileError);
    expect(readFileSync(file, 'utf8')).toBe('version: 7');
    expect(readdirSync(dirname(file))).toEqual(['keys.yaml']);
  });

  it('is changed by one command at a time, so that no key is lost', () => {
    const file = newFile();
    appendApiKey(file, newEntry('a'));
    writeFileSync(`${file}.draft`, '');
    expect(() => {
      appendApiKey(file, newEntry('b'));
    }).toThrow(/another command is changing the file/);
    expect(readdirSync(dirname(file)).sort()).toEqual(['keys.yaml', 'keys.yaml.draft']);
  });

  it('that cannot be had is an error that names it, without a stack for whoever catches KeyFileError', () => {
    const file = newFile();
    expect(() => removeApiKey(file, 'k_000000000000')).toThrow(new KeyFileError(`${file}: there is no such file`));
    mkdirSync(file);
    expect(() => {
      appendApiKey(file, newEntry('a'));
    }).toThrow(KeyFileError);
    expect(() => {
      appendApiKey(join(file, 'no', 'folder.yaml'), newEntry('a'));
    }).toThrow(/cannot be changed: ENOENT/);
  });
});
