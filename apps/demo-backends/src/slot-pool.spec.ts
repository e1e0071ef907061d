import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SlotPool } from './slot-pool.js';

describe('SlotPool', () => {
  it('serves at once as long as a slot is free', () => {
    const pool = new SlotPool(2);
    expect(pool.book(1000, 50)).toEqual({ slot: 0, queuedMs: 0, endsAtMs: 1050 });
    expect(pool.book(1000, 30)).toEqual({ slot: 1, queuedMs: 0, endsAtMs: 1030 });
    expect(pool.busy(1000)).toBe(2);
    expect(pool.busy(1040)).toBe(1);
  });

  it('queues what comes when all are busy for the slot that is free first', () => {
    const pool = new SlotPool(2);
    pool.book(0, 50);
    pool.book(0, 30);
    expect(pool.book(10, 5)).toEqual({ slot: 1, queuedMs: 20, endsAtMs: 35 });
    expect(pool.book(10, 5)).toEqual({ slot: 1, queuedMs: 25, endsAtMs: 40 });
    expect(pool.book(45, 5)).toEqual({ slot: 1, queuedMs: 0, endsAtMs: 50 });
  });

  it('never works on more jobs than it has slots, keeps their order and never idles while one waits', () => {
    const jobs = fc.array(fc.record({ gapMs: fc.nat(20), serviceMs: fc.integer({ min: 1, max: 60 }) }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), jobs, (slots, list) => {
        const pool = new SlotPool(slots);
        let nowMs = 0;
        const booked = list.map(({ gapMs, serviceMs }) => {
          nowMs += gapMs;
          const { queuedMs, endsAtMs } = pool.book(nowMs, serviceMs);
          return { startMs: nowMs + queuedMs, endsAtMs, queuedMs };
        });
        booked.forEach(({ startMs, queuedMs }, i) => {
          const atWork = booked.slice(0, i).filter((other) => other.startMs <= startMs && other.endsAtMs > startMs).length;
          expect(atWork).toBeLessThan(slots);
          expect(startMs).toBeGreaterThanOrEqual(booked[i - 1]?.startMs ?? 0);
          // It started when another one ended, or at once.
          expect(queuedMs === 0 || booked.slice(0, i).some((other) => other.endsAtMs === startMs)).toBe(true);
        });
      }),
    );
  });

  it('needs a slot', () => {
    expect(() => new SlotPool(0)).toThrow(RangeError);
  });
});
