import { describe, expect, it } from '@jest/globals';
import { figuresTable, type Figures } from './rounds.js';

const figures = (name: string, base: string, scale: number): Figures => ({
  name,
  base,
  saturated: [900, 1000, 1100].map((perSecond) => ({ perSecond: perSecond * scale, perCpuSecond: perSecond * scale * 2 })),
  paced: [4, 5, 6].map((p99Ms) => ({
    p50Ms: 1 / scale,
    p99Ms: p99Ms / scale,
    p999Ms: 9,
    lateP99Ms: 0,
    coreWaitShare: 0,
    runtime: undefined,
  })),
});

const cells = (line: string | undefined): string[] =>
  (line ?? '')
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

describe('figuresTable', () => {
  it('gives medians, how far the rounds were apart, and what a contender costs against its base', () => {
    const [, , base, other] = figuresTable([figures('off', 'off', 1), figures('redis', 'off', 0.5)]).split('\n');
    expect(cells(base)).toEqual(['off', '1000', '±10 %', '1.00', '2000', '1.00', '1.00', '+0.00', '5.00', '±20 %', '+0.00']);
    expect(cells(other)).toEqual(['redis', '500', '±10 %', '0.50', '1000', '0.50', '2.00', '+1.00', '10.00', '±20 %', '+5.00']);
  });

  it('a contender may be cheaper than its base', () => {
    const [, , , other] = figuresTable([figures('a', 'a', 1), figures('b', 'a', 2)]).split('\n');
    expect(cells(other)).toContain('-0.50');
  });

  it('compares each with its own base', () => {
    const lines = figuresTable([figures('a', 'a', 1), figures('b', 'b', 4), figures('c', 'b', 2)]).split('\n');
    expect(cells(lines[4])[3]).toBe('0.50');
  });
});
