import { describe, expect, it } from '@jest/globals';
import { parseServiceRange, serviceTimes } from './service-times.js';

describe('parseServiceRange', () => {
  it('reads a range or a single time', () => {
    expect(parseServiceRange('20-60')).toEqual({ minMs: 20, maxMs: 60 });
    expect(parseServiceRange('0')).toEqual({ minMs: 0, maxMs: 0 });
  });

  it.each(['', '60-20', '-5', '1.5', '20 - 60', '20-', '123456'])('refuses %p', (text) => {
    expect(parseServiceRange(text)).toBeUndefined();
  });
});

describe('serviceTimes', () => {
  const take = (seed: number) => Array.from({ length: 500 }, serviceTimes({ minMs: 20, maxMs: 60 }, seed));

  it('gives the same times for the same seed, others for another', () => {
    expect(take(1)).toEqual(take(1));
    expect(take(1)).not.toEqual(take(2));
  });

  it('covers the whole range and nothing else', () => {
    const times = take(1);
    expect([Math.min(...times), Math.max(...times)]).toEqual([20, 60]);
    expect(times.every(Number.isInteger)).toBe(true);
  });
});
