import { describe, expect, it } from '@jest/globals';
import { median, poisson, seeded, spread } from './stats.js';

describe('stats', () => {
  it.each([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
    [[7], 7],
  ])('the median of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('no values have no median', () => {
    expect(() => median([])).toThrow('no values');
  });

  it('the spread is half of the range, as a share of the median', () => {
    expect(spread([90, 100, 110])).toBeCloseTo(0.1);
  });

  it('a seed determines the arrivals, and their mean is what was asked for', () => {
    const draw = (seed: number): number[] => {
      const random = seeded(seed);
      return Array.from({ length: 5000 }, () => poisson(3, random));
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    expect(draw(1).reduce((a, b) => a + b) / 5000).toBeCloseTo(3, 0);
  });
});
