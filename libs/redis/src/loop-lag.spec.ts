import { describe, expect, it } from '@jest/globals';
import { LoopLag } from './loop-lag.js';

describe('LoopLag', () => {
  const make = () => {
    let nowMs = 1000;
    let end: () => void = () => undefined;
    const lag = new LoopLag(
      () => nowMs,
      (run) => (end = run),
    );
    return {
      lag,
      turn: (busyMs: number): void => {
        lag.note();
        nowMs += busyMs;
        end();
      },
      pass: (ms: number): void => {
        nowMs += ms;
      },
    };
  };

  it('grants nothing on an idle loop', () => {
    expect(make().lag.extensionMs).toBe(0);
  });

  it('grants what the turn has taken so far, for itself and the next one', () => {
    const { lag, pass } = make();
    lag.note();
    pass(8);
    expect(lag.extensionMs).toBe(16);
  });

  it('remembers busy turns for a while, bounded, and forgets them', () => {
    const { lag, turn, pass } = make();
    turn(10);
    expect(lag.extensionMs).toBe(20);
    turn(0);
    expect(lag.extensionMs).toBe(16);
    turn(1000);
    expect(lag.extensionMs).toBe(100);
    pass(101);
    expect(lag.extensionMs).toBe(0);
  });
});
