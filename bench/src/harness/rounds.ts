import type { LoadReport } from './load.js';
import { coreWaitMs, cpuSeconds, load } from './processes.js';
import type { BenchOptions } from './result.js';
import type { RuntimeFigures, RuntimeWatch } from './runtime.js';
import { median, spread } from './stats.js';
import { markdownTable } from './table.js';

/** Where the measured process runs alone, and where everything else does. */
export const SUBJECT_CORE = 0;
export const OTHER_CORE = 1;
export const CONNECTIONS = 64;
/**
 * Counted in requests, not in seconds: a fresh gateway costs ten times as much CPU per request as after some 8,000 of them, and how long
 * those take depends on what else the machine does. Whoever were measured first would look dear.
 */
const WARM_UP_REQUESTS = 20_000;
const WARM_UP_ATTEMPTS = 60;

/** One server under one kind of request. */
export interface Contender {
  readonly name: string;
  /** The contender that this one is compared with, by name. */
  readonly base: string;
  readonly pid: number;
  readonly port: number;
  /** A whole HTTP/1.1 request. */
  readonly request: string;
  /** Watched in the open loop only; undefined where it is no Node process. */
  readonly runtime?: RuntimeWatch | undefined;
}

export interface Saturated {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

export interface Paced {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** How late the load itself was, at its 99th percentile. */
  readonly lateP99Ms: number;
  /** Of the time, how much the contender was ready to run and found its core taken. */
  readonly coreWaitShare: number;
  readonly runtime: RuntimeFigures | undefined;
}

export interface Figures {
  readonly name: string;
  readonly base: string;
  readonly saturated: readonly Saturated[];
  readonly paced: readonly Paced[];
}

export interface Rounds {
  /** Requests per second of the open loop. */
  readonly rate: number;
  readonly figures: readonly Figures[];
}

/**
 * Warms every contender up, saturates each by a closed loop, then paces each by an open loop, back and forth over the rounds.
 * @param pace requests per second of the open loop; by default half of the slowest contender's saturation
 */
export async function runRounds(contenders: readonly Contender[], { seconds, rounds, seed }: BenchOptions, pace?: number): Promise<Rounds> {
  const results = contenders.map((contender) => ({ contender, saturated: [] as Saturated[], paced: [] as Paced[] }));
  for (const { contender } of results) await warmUp(contender, seed);
  for (let round = 0; round < rounds; round += 1) {
    for (const { contender, saturated } of ordered(results, round)) saturated.push(await saturate(contender, seconds, seed + round));
  }
  const slowest = Math.min(...results.map(({ saturated }) => median(saturated.map(({ perSecond }) => perSecond))));
  const rate = pace ?? Math.floor(slowest / 2);
  // The watch and the slower rhythm have code of their own to be compiled.
  for (const { contender } of results) await pacedBy(rate, contender, seconds, seed);
  for (let round = 0; round < rounds; round += 1) {
    for (const { contender, paced } of ordered(results, round)) paced.push(await pacedBy(rate, contender, seconds, seed + round));
  }
  return { rate, figures: results.map(({ contender: { name, base }, saturated, paced }) => ({ name, base, saturated, paced })) };
}

/** Back and forth, so that a machine that slows down or warms up favours nobody. */
function ordered<T>(items: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? items : [...items].reverse();
}

async function warmUp(contender: Contender, seed: number): Promise<void> {
  let answered = 0;
  for (let attempt = 0; answered < WARM_UP_REQUESTS; attempt += 1) {
    if (attempt === WARM_UP_ATTEMPTS) throw new Error(`${contender.name}: ${answered} requests in ${attempt} s are too few to warm up`);
    const { statuses } = await put(contender, 1, undefined, seed);
    answered += Object.values(statuses).reduce((sum, count) => sum + count, 0);
  }
}

async function saturate(contender: Contender, seconds: number, seed: number): Promise<Saturated> {
  const before = cpuSeconds(contender.pid);
  const { requests } = await put(contender, seconds, undefined, seed);
  if (requests === 0) throw new Error(`${contender.name}: nothing was answered within ${seconds} s`);
  return { perSecond: requests / seconds, perCpuSecond: requests / (cpuSeconds(contender.pid) - before) };
}

async function pacedBy(rate: number, contender: Contender, seconds: number, seed: number): Promise<Paced> {
  await contender.runtime?.begin();
  const before = coreWaitMs(contender.pid);
  const { p50Ms, p99Ms, p999Ms, lateP99Ms } = await put(contender, seconds, rate, seed);
  const coreWaitShare = (coreWaitMs(contender.pid) - before) / (seconds * 1000);
  return { p50Ms, p99Ms, p999Ms, lateP99Ms, coreWaitShare, runtime: await contender.runtime?.end() };
}

async function put({ name, port, request }: Contender, seconds: number, rate: number | undefined, seed: number): Promise<LoadReport> {
  try {
    return await load({ port, requests: [request], connections: CONNECTIONS, seconds, rate, seed }, OTHER_CORE);
  } catch (error) {
    throw new Error(`${name} cannot be measured`, { cause: error });
  }
}

const HEAD = ['variant', 'req/s', 'spread', '× base', 'req/CPU-s', '× base', 'p50 ms', 'added', 'p99 ms', 'spread', 'added'];

export const plusMinus = (share: number): string => `±${(share * 100).toFixed(0)} %`;

/** Medians of each contender, and its ratios to its base in the same run. */
export function figuresTable(figures: readonly Figures[]): string {
  const rows = figures.map((one) => {
    const base = figures.find(({ name }) => name === one.base) ?? one;
    const middle = (of: Figures, pick: (saturated: Saturated) => number): number => median(of.saturated.map(pick));
    const latency = (of: Figures, pick: (paced: Paced) => number): number => median(of.paced.map(pick));
    const ratio = (pick: (saturated: Saturated) => number): string => (middle(one, pick) / middle(base, pick)).toFixed(2);
    const added = (pick: (paced: Paced) => number): string => {
      const difference = latency(one, pick) - latency(base, pick);
      return `${difference >= 0 ? '+' : ''}${difference.toFixed(2)}`;
    };
    return [
      one.name,
      middle(one, ({ perSecond }) => perSecond).toFixed(0),
      plusMinus(spread(one.saturated.map(({ perSecond }) => perSecond))),
      ratio(({ perSecond }) => perSecond),
      middle(one, ({ perCpuSecond }) => perCpuSecond).toFixed(0),
      ratio(({ perCpuSecond }) => perCpuSecond),
      latency(one, ({ p50Ms }) => p50Ms).toFixed(2),
      added(({ p50Ms }) => p50Ms),
      latency(one, ({ p99Ms }) => p99Ms).toFixed(2),
      plusMinus(spread(one.paced.map(({ p99Ms }) => p99Ms))),
      added(({ p99Ms }) => p99Ms),
    ];
  });
  return markdownTable(HEAD, rows);
}

export function roundsNotes({ rate }: Rounds, pinned: boolean): readonly string[] {
  return [
    `Saturation: closed loop, ${CONNECTIONS} connections. Latency: open loop at ${rate} req/s, from the intended time of sending.`,
    pinned
      ? 'The measured process alone on one core; load, backend and Redis on the other.'
      : 'Processes could not be bound to cores (no taskset).',
  ];
}
