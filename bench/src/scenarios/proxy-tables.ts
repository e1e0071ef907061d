import { perCpuSecondRatio } from '../harness/budgets.js';
import { plusMinus, type Figures, type Paced, type Saturated } from '../harness/rounds.js';
import type { RuntimeFigures } from '../harness/runtime.js';
import { median, spread } from '../harness/stats.js';
import { markdownTable } from '../harness/table.js';

const NONE = '–';

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const ms = (value: number): string => value.toFixed(2);

/** Throughput under a closed loop, and each base's ratio per CPU second. `notRun` are rows without figures. */
export function saturationTable(figures: readonly Figures[], bases: readonly string[], notRun: readonly string[]): string {
  const head = ['saturated', 'req/s', 'spread', 'req/CPU-s', 'spread', ...bases.map((base) => `× ${base}`)];
  const rows = figures.map(({ name, saturated }) => {
    const both = (pick: (one: Saturated) => number): string[] => {
      const values = saturated.map(pick);
      return [median(values).toFixed(0), plusMinus(spread(values))];
    };
    const ratios = bases.map((base) => perCpuSecondRatio(figures, name, base).toFixed(2));
    return [name, ...both(({ perSecond }) => perSecond), ...both(({ perCpuSecond }) => perCpuSecond), ...ratios];
  });
  return markdownTable(head, [...rows, ...emptyRows(notRun, head.length)]);
}

/** Latencies under an open loop, beside what can explain their tail. */
export function latencyTable(figures: readonly Figures[], notRun: readonly string[]): string {
  const latencies = ['p50 ms', 'p99 ms', 'spread', 'p99.9 ms', 'late p99'];
  const causes = ['core wait', 'loop busy', 'loop delay p99', 'max', 'GC', 'longest GC'];
  const head = ['paced', ...latencies, ...causes];
  const rows = figures.map(({ name, paced }) => {
    const middle = (pick: (one: Paced) => number): number => median(paced.map(pick));
    const watched = paced.flatMap(({ runtime }) => runtime ?? []);
    const ofRuntime = (pick: (one: RuntimeFigures) => number, text: (value: number) => string): string =>
      watched.length === 0 ? NONE : text(median(watched.map(pick)));
    return [
      name,
      ms(middle(({ p50Ms }) => p50Ms)),
      ms(middle(({ p99Ms }) => p99Ms)),
      plusMinus(spread(paced.map(({ p99Ms }) => p99Ms))),
      ms(middle(({ p999Ms }) => p999Ms)),
      ms(middle(({ lateP99Ms }) => lateP99Ms)),
      percent(middle(({ coreWaitShare }) => coreWaitShare)),
      ofRuntime(({ busyShare }) => busyShare, percent),
      ofRuntime(({ loopDelayP99Ms }) => loopDelayP99Ms, ms),
      ofRuntime(({ loopDelayMaxMs }) => loopDelayMaxMs, ms),
      ofRuntime(({ gcShare }) => gcShare, percent),
      ofRuntime(({ gcMaxMs }) => gcMaxMs, ms),
    ];
  });
  return markdownTable(head, [...rows, ...emptyRows(notRun, head.length)]);
}

function emptyRows(names: readonly string[], width: number): string[][] {
  return names.map((name) => [name, ...Array.from({ length: width - 1 }, () => NONE)]);
}
