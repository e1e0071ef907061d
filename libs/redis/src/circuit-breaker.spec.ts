import { describe, expect, it } from '@jest/globals';
import { CircuitBreaker, type BreakerState } from './circuit-breaker.js';

function breaker(random = 0.5) {
  let nowMs = 0;
  const changes: BreakerState[] = [];
  const subject = new CircuitBreaker({ nowMs: () => nowMs, random: () => random, onChange: (state) => changes.push(state) });
  return {
    subject,
    changes,
    pass: (ms: number) => (nowMs += ms),
    fail: (count: number, everyMs: number) => {
      for (let i = 0; i < count; i += 1) {
        subject.failed('no reply');
        nowMs += everyMs;
      }
    },
    probe: (count: number, good = true) => {
      for (let i = 0; i < count; i += 1) subject.probed(good, 'probe: no reply');
    },
  };
}

describe('CircuitBreaker', () => {
  it('opens on a run of failures that lasts, not on a hiccup', () => {
    const { subject, fail, changes } = breaker();
    fail(200, 0.2);
    expect(subject.state).toBe('closed');
    subject.succeeded();
    fail(6, 11);
    expect([subject.state, subject.allows(), subject.why]).toEqual(['open', false, 'no reply']);
    expect(changes).toEqual(['open']);
  });

  it('opens where half of the calls fail, though others succeed in between', () => {
    const { subject, pass } = breaker();
    for (let i = 0; i < 40; i += 1) {
      if (i % 2 === 0) subject.failed('no reply');
      else subject.succeeded();
      pass(10);
    }
    expect(subject.state).toBe('open');
  });

  it('stays closed where a third of them fails', () => {
    const { subject, pass } = breaker();
    for (let i = 0; i < 600; i += 1) {
      if (i % 3 === 0) subject.failed('no reply');
      else subject.succeeded();
      pass(5);
    }
    expect(subject.state).toBe('closed');
  });

  it('closes in steps after probes that succeed in a row; one that fails starts the row again', () => {
    const { subject, fail, probe, pass, changes } = breaker(0.2);
    fail(7, 11);
    probe(2);
    probe(1, false);
    probe(2);
    expect(subject.state).toBe('open');
    probe(1);
    expect(subject.state).toBe('closing');
    expect(subject.allows()).toBe(false);
    pass(100);
    expect(subject.allows()).toBe(true);
    pass(200);
    expect([subject.allows(), subject.state]).toEqual([true, 'closed']);
    expect(changes).toEqual(['open', 'closing', 'closed']);
  });

  it('does not flap: a relapse asks for twice as many good probes, a calm while forgets it', () => {
    const { subject, fail, probe, pass } = breaker();
    fail(7, 11);
    probe(3);
    fail(1, 10);
    expect(subject.state).toBe('closing');
    fail(1, 10);
    expect(subject.state).toBe('open');
    probe(5);
    expect(subject.state).toBe('open');
    probe(1);
    expect(subject.state).toBe('closing');
    pass(300);
    expect(subject.allows()).toBe(true);
    pass(10_000);
    fail(7, 11);
    probe(3);
    expect(subject.state).toBe('closing');
  });

  it('probes less often the longer it fails, within half a second', () => {
    const { subject, fail, probe } = breaker();
    fail(7, 11);
    expect(subject.probeAfterMs).toBe(50);
    probe(1, false);
    expect(subject.probeAfterMs).toBe(75);
    probe(50, false);
    expect(subject.probeAfterMs).toBe(500);
    probe(1);
    expect(subject.probeAfterMs).toBe(50);
  });
});
