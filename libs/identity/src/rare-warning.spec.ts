import { afterEach, expect, it, jest } from '@jest/globals';
import { RareWarning } from './rare-warning.js';

afterEach(() => {
  jest.useRealTimers();
});

it('a rare warning is told at once, and then at most once a minute', () => {
  jest.useFakeTimers();
  const told: string[] = [];
  const warning = new RareWarning({ warn: (message) => told.push(message) });
  for (const atMs of [0, 1, 59_998, 1, 1]) {
    jest.advanceTimersByTime(atMs);
    warning.warn(`at ${performance.now()}`);
  }
  expect(told).toHaveLength(2);
});
