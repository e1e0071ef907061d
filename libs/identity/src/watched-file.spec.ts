import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WatchedFile } from './watched-file.js';

const LOOK_MS = 500;

describe('WatchedFile', () => {
  let file: string;
  let watched: WatchedFile<number>;
  const bad: string[] = [];
  const changes: number[] = [];
  const parse = (text: string): number => {
    if (!/^\d+$/.test(text)) throw new Error(`no number: ${text}`);
    return Number(text);
  };
  const looks = (count: number): void => {
    jest.advanceTimersByTime(count * LOOK_MS);
  };

  beforeEach(() => {
    jest.useFakeTimers();
    file = join(mkdtempSync(join(tmpdir(), 'esclusa-')), 'number');
    writeFileSync(file, '1');
    bad.length = changes.length = 0;
    watched = new WatchedFile({ file, parse, onBad: (problem) => bad.push(problem), onChange: (value) => changes.push(value) });
  });
  afterEach(() => {
    watched.close();
    jest.useRealTimers();
  });

  it('takes a change once two looks found the file the same', () => {
    writeFileSync(file, '22');
    looks(1);
    expect(watched.current).toBe(1);
    looks(1);
    expect(watched.current).toBe(22);
    looks(4);
    expect(changes).toEqual([22]);
  });

  it('leaves a file that is being written alone until it rests, though what is there would do', () => {
    for (const text of ['22', '223', '2234']) {
      writeFileSync(file, text);
      looks(1);
      expect(watched.current).toBe(1);
    }
    looks(1);
    expect(changes).toEqual([2234]);
  });

  it('follows a file that is replaced by another of the same size and time', () => {
    utimesSync(file, 1000, 1000);
    looks(2);
    writeFileSync(`${file}.new`, '2');
    utimesSync(`${file}.new`, 1000, 1000);
    renameSync(`${file}.new`, file);
    looks(2);
    expect(watched.current).toBe(2);
  });

  it('keeps the last good content over bad ones, and tells each of these once', () => {
    for (const text of ['x', 'x', 'yy', 'yy']) {
      writeFileSync(file, text);
      utimesSync(file, 1000 + changes.length, Math.random() * 1e6);
      looks(3);
    }
    expect([watched.current, watched.bad, bad]).toEqual([1, 2, ['no number: x', 'no number: yy']]);
    writeFileSync(file, '3');
    looks(2);
    expect(watched.current).toBe(3);
  });

  it('keeps the last good content while the file is gone, and takes the one that comes back', () => {
    rmSync(file);
    looks(5);
    expect([watched.current, bad.length]).toEqual([1, 1]);
    writeFileSync(file, '4');
    looks(2);
    expect(watched.current).toBe(4);
  });

  it('needs a good content to begin with', () => {
    writeFileSync(file, 'x');
    expect(() => new WatchedFile({ file, parse, onBad: () => undefined })).toThrow('no number: x');
    rmSync(file);
    expect(() => new WatchedFile({ file, parse, onBad: () => undefined })).toThrow(/ENOENT/);
  });

  it('looks no more once it is closed', () => {
    watched.close();
    writeFileSync(file, '5');
    looks(10);
    expect(watched.current).toBe(1);
  });
});
