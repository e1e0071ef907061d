import { describe, expect, it } from '@jest/globals';
import { originOf } from './profile.js';

describe('originOf', () => {
  it.each([
    ['x', 'file:///a/dist/libs/rules/src/rules.js', 'libs/rules'],
    ['x', 'file:///a/dist/apps/gateway/src/main.js', 'apps/gateway'],
    ['x', '/a/node_modules/undici/lib/pool.js', 'undici'],
    ['x', '/a/node_modules/x/node_modules/@nestjs/core/a.js', '@nestjs/core'],
    ['(garbage collector)', '', 'garbage collection'],
    ['(program)', '', 'native code'],
    ['x', 'node:internal/streams/writable', 'node:internal/streams'],
    ['writev', '', 'native code'],
    ['wasm-function[20]', 'wasm://wasm/00034eea', 'wasm'],
    ['x', 'evalmachine.<anonymous>', 'other'],
  ])('%s of %s is %s', (name, url, origin) => {
    expect(originOf(name, url)).toBe(origin);
  });
});
