import { describe, expect, it } from '@jest/globals';
import { FakeClock } from './fake-clock.js';

describe('FakeClock', () => {
  it('stands still until it is moved', () => {
    const clock = new FakeClock(5_000_999);
    expect([clock.nowUs(), clock.nowUs(), clock.nowMs()]).toEqual([5_000_999, 5_000_999, 5000]);
  });

  it('moves both ways, through a function handed on as well', () => {
    const clock = new FakeClock(0);
    const { nowUs } = clock;
    clock.advanceMs(1.5);
    expect(nowUs()).toBe(1500);
    clock.advanceMs(-1);
    expect(nowUs()).toBe(500);
    clock.advanceUs(1);
    expect(nowUs()).toBe(501);
    clock.set(7);
    expect(nowUs()).toBe(7);
  });

  it('refuses fractions of a microsecond', () => {
    expect(() => {
      new FakeClock().advanceUs(0.1);
    }).toThrow(RangeError);
  });
});
