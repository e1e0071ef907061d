import { describe, expect, it } from '@jest/globals';
import { judge, judgementText, perCpuSecondRatio } from './budgets.js';
import type { Figures } from './rounds.js';

const figures = (name: string, ...perCpuSecond: readonly number[]): Figures => ({
  name,
  base: name,
  saturated: perCpuSecond.map((each) => ({ perSecond: 1, perCpuSecond: each })),
  paced: [],
});

describe('budgets', () => {
  const measured = [figures('edge', 100, 300, 150), figures('peer', 200, 100, 50)];

  it('compare the medians of a run', () => {
    expect(perCpuSecondRatio(measured, 'edge', 'peer')).toBe(1.5);
  });

  it('are kept by what reaches them, and by nothing less', () => {
    const budget = { name: 'edge', base: 'peer' };
    const judgements = judge(
      [1.5, 1.6].map((atLeast) => ({ ...budget, atLeast })),
      measured,
    );
    expect(judgements.map(({ kept }) => kept)).toEqual([true, false]);
    expect(judgements.map(judgementText)).toEqual([
      'edge: at least 1.5 × peer per CPU second; it was 1.50 ×',
      'edge: at least 1.6 × peer per CPU second; it was 1.50 ×, too little',
    ]);
  });

  it('are not kept by what was not measured', () => {
    expect(() => judge([{ name: 'edge', base: 'absent', atLeast: 1 }], measured)).toThrow('absent was not measured');
  });
});
