import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnNode } from '#libs/testing';
import { bucket, policy, writeEdge, type EdgeFiles } from './support/edge.js';

const GOOD = { policies: [policy('address', ['ip'], bucket(5, 1))] };

describe('a first start with something wrong', () => {
  let files: EdgeFiles;
  beforeAll(() => {
    files = writeEdge('http://127.0.0.1:9', GOOD);
  });
  afterAll(() => {
    files.remove();
  });

  const start = async (env: Readonly<Record<string, string>>): Promise<{ code: number; output: string }> => {
    const process = spawnNode('dist/apps/gateway/src/main.js', { env: { ...files.env, ...env } });
    const code = await process.exited;
    return { code, output: process.lines.join('\n') };
  };

  it.each<[string, string | Buffer, RegExp]>([
    ['an empty file', '', /empty/],
    ['an empty mapping', '{}', /version|policies/],
    ['a list', '[]', /allowed/],
    ['a half-written file', 'version: 1\npolicies:\n  - { name: add', /line|:\d+/],
    ['invalid syntax', 'version: [1', /:\d+/],
    ['a byte-order mark', `\ufeffversion: 1\n`, /byte.order mark/i],
    ['invalid UTF-8', Buffer.from([0x76, 0xff, 0xfe]), /UTF-8/],
    ['a file too large', Buffer.alloc(50 * 1024 * 1024, 0x20), /MiB/],
    [
      'a limit that is no number',
      'version: 1\npolicies: [{ name: a, per: [ip], limits: [{ default: true, tokenBucket: { capacity: lots, refillPerSecond: 1 } }] }]',
      /capacity.*lots/,
    ],
  ])('CFG-07: %s as limits document: the process says what is wrong and exits non-zero', async (_name, content, told) => {
    const file = join(files.folder, 'bad.yaml');
    writeFileSync(file, content);
    const { code, output } = await start({ LIMITS_SOURCE: file, STORE: 'memory' });
    expect(code).not.toBe(0);
    expect(output).toContain('bad.yaml');
    expect(output).toMatch(told);
    expect(output).not.toMatch(/^\s+at /m);
  });

  it('CFG-07: a folder or a missing file as limits document is refused', async () => {
    const folder = join(files.folder, 'folder.yaml');
    mkdirSync(folder);
    expect(await start({ LIMITS_SOURCE: folder, STORE: 'memory' })).toMatchObject({
      code: 1,
      output: expect.stringContaining('folder.yaml'),
    });
    expect(await start({ LIMITS_SOURCE: `${folder}-none`, STORE: 'memory' })).toMatchObject({
      code: 1,
      output: expect.stringContaining('-none'),
    });
  });

  it.each<[Record<string, string>, RegExp]>([
    [{}, /REDIS_URL: missing.*STORE=memory/],
    [{ STORE: 'memory', REDIS_URL: 'redis://127.0.0.1' }, /exclude each other/],
    [{ REDIS_URL: 'http://127.0.0.1' }, /REDIS_URL: must be redis:\/\//],
    [{ STORE: 'disk' }, /STORE: allowed: memory/],
    [{ STORE: 'memory', PORT: '99999' }, /PORT: allowed: a port/],
    [{ STORE: 'memory', REDIS_DEADLINE_MS: 'soon' }, /REDIS_DEADLINE_MS: allowed: milliseconds/],
    [{ STORE: 'memory', LIMITS_SOURCE: 'https://rules.example' }, /LIMITS_SOURCE: .*not supported in this version/],
    [{ STORE: 'memory', API_KEY_PEPPER: 'short' }, /API_KEY_PEPPER: allowed: .*16 characters/],
    [{ STORE: 'memory', API_KEY_PEPPER: '' }, /API_KEY_PEPPER: missing/],
    [{ STORE: 'memory', HOST: '203.0.113.1' }, /ADMIN_PORT=0|PORT=0 on HOST=203\.0\.113\.1 cannot be used/],
    [{ STORE: 'memory', RATELIMIT_HEADERS: 'draft-99' }, /RATELIMIT_HEADERS: allowed: draft-11/],
  ])('refuses the environment %j and says what is allowed', async (env, told) => {
    const { code, output } = await start(env);
    expect(code).toBe(1);
    expect(output).toMatch(told);
    expect(output).not.toContain('short');
    expect(output).not.toMatch(/^\s+at /m);
  });
});
