import { describe, expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadScript } from './script.js';

const folder = fileURLToPath(new URL('../../../lua/', import.meta.url));
const scripts = readdirSync(folder).filter((name) => name.endsWith('.lua'));

describe('lua/', () => {
  it.each(scripts)('%s: its name ends in its highest KEYS index, or in n where it loops over KEYS', (name) => {
    const text = readFileSync(folder + name, 'utf8');
    const suffix = /-(\d+|n)\.lua$/.exec(name)?.[1];
    const indices = [...text.matchAll(/KEYS\[(\d+)\]/g)].map((match) => Number(match[1]));
    if (suffix === 'n') expect(text).toMatch(/ipairs\(KEYS\)/);
    else expect(Math.max(...indices)).toBe(Number(suffix));
  });

  it.each(scripts)('%s: opens with a comment that names KEYS, ARGV, Returns and Complexity', (name) => {
    const head = /^--\[\[[\s\S]*?\]\]/.exec(readFileSync(folder + name, 'utf8'))?.[0] ?? '';
    for (const word of ['KEYS', 'ARGV', 'Returns', 'Complexity']) expect(head).toContain(word);
  });
});

describe('loadScript', () => {
  it('puts each include in place once and hashes the whole text', () => {
    const script = loadScript('admit-n');
    expect(script.source).not.toMatch(/^--- @include/m);
    expect(script.source.match(/local function server_time/g)).toHaveLength(1);
    expect(script.sha).toMatch(/^[0-9a-f]{40}$/);
  });

  it('refuses includes that form a circle', () => {
    expect(() => loadScript('admit-n', { 'includes/integers': '--- @include "includes/integers"' })).toThrow('form a circle');
  });

  it('swaps an include for tests', () => {
    const script = loadScript('admit-n', { 'includes/server-time': 'local function server_time() return 42 end' });
    expect(script.source).toContain('return 42');
  });
});
