import { PerformanceObserver, monitorEventLoopDelay, performance, type EventLoopUtilization } from 'node:perf_hooks';
import type { RuntimeFigures } from './runtime.js';

/**
 * Preloaded into a Node process (`node --import`). SIGUSR2 begins a watch, and the next one ends it; both print a line, numbered, the
 * second one with the figures. Nothing is measured in between watches.
 */
const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let pauses: number[] = [];
const collections = new PerformanceObserver((list) => {
  pauses.push(...list.getEntries().map(({ duration }) => duration));
});
let begun: { readonly atMs: number; readonly utilization: EventLoopUtilization } | undefined;
let lines = 0;

function begin(): void {
  delay.reset();
  delay.enable();
  collections.observe({ entryTypes: ['gc'] });
  begun = { atMs: performance.now(), utilization: performance.eventLoopUtilization() };
}

function end({ atMs, utilization }: NonNullable<typeof begun>): RuntimeFigures {
  const busyShare = performance.eventLoopUtilization(utilization).utilization;
  delay.disable();
  pauses.push(...collections.takeRecords().map(({ duration }) => duration));
  collections.disconnect();
  // The histogram holds the time between two ticks of a timer: what is over the timer's own time is delay.
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  const figures = {
    busyShare,
    loopDelayP99Ms: late(delay.percentile(99)),
    loopDelayMaxMs: late(delay.max),
    gcShare: pauses.reduce((sum, pause) => sum + pause, 0) / (performance.now() - atMs),
    gcMaxMs: Math.max(0, ...pauses),
  };
  pauses = [];
  begun = undefined;
  return figures;
}

process.on('SIGUSR2', () => {
  const figures = begun === undefined ? undefined : end(begun);
  if (figures === undefined) begin();
  process.stdout.write(`runtime ${(lines += 1)} ${JSON.stringify(figures ?? {})}\n`);
});
