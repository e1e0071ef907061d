import { describe, expect, it } from '@jest/globals';
import { ServerClock } from './server-clock.js';

describe('ServerClock', () => {
  it('never estimates later than the server can be, so that notAfter is never too generous', () => {
    const clock = new ServerClock();
    clock.sample(5_000_400, 1000, 1900);
    expect(clock.at(1900)).toBe(5_000_400);
  });

  it('keeps the closest bound seen: a slow round trip does not loosen it', () => {
    const clock = new ServerClock();
    clock.sample(5_000_100, 1000, 1200);
    const before = clock.at(10_000);
    clock.sample(5_009_000, 9000, 30_000);
    expect(clock.at(10_000)).toBe(before);
  });

  it('follows a server whose clock stepped, either way, with the next reply', () => {
    const clock = new ServerClock();
    clock.sample(5_000_100, 1000, 1200);
    clock.sample(9_000_100, 2000, 2200);
    expect(clock.at(2200)).toBe(9_000_100);
    clock.sample(4_000_100, 3000, 3200);
    expect(clock.at(3000)).toBe(4_000_100);
  });

  it('has no time before the first sample', () => {
    expect(new ServerClock().known).toBe(false);
    expect(() => new ServerClock().at(0)).toThrow('has not told its time');
  });
});
