import { describe, expect, it } from '@jest/globals';
import type { Figures } from '../harness/rounds.js';
import type { RuntimeFigures } from '../harness/runtime.js';
import { latencyTable, saturationTable } from './proxy-tables.js';

const runtime: RuntimeFigures = { busyShare: 0.25, loopDelayP99Ms: 2, loopDelayMaxMs: 8, gcShare: 0.031, gcMaxMs: 4 };
const figures = (name: string, scale: number, watched?: RuntimeFigures): Figures => ({
  name,
  base: name,
  saturated: [900, 1000, 1100].map((perSecond) => ({ perSecond: perSecond * scale, perCpuSecond: perSecond * scale * 2 })),
  paced: [4, 5, 6].map((p99Ms) => ({ p50Ms: 1, p99Ms, p999Ms: 9, lateP99Ms: 0.5, coreWaitShare: 0.015, runtime: watched })),
});

const rows = (table: string): string[][] =>
  table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

describe('the tables of the proxy scenario', () => {
  it('give medians, how far the rounds were apart, and a ratio for each base', () => {
    const [head, , edge, peer] = rows(saturationTable([figures('edge', 2), figures('peer', 1)], ['peer', 'edge'], []));
    expect(head?.slice(-2)).toEqual(['× peer', '× edge']);
    expect(edge).toEqual(['edge', '2000', '±10 %', '4000', '±10 %', '2.00', '1.00']);
    expect(peer).toEqual(['peer', '1000', '±10 %', '2000', '±10 %', '1.00', '0.50']);
  });

  it('put beside a tail what the process says of itself, where it can', () => {
    const [, , edge, other] = rows(latencyTable([figures('edge', 1, runtime), figures('other', 1)], []));
    const latencies = ['1.00', '5.00', '±20 %', '9.00', '0.50', '1.5 %'];
    expect(edge).toEqual(['edge', ...latencies, '25.0 %', '2.00', '8.00', '3.1 %', '4.00']);
    expect(other).toEqual(['other', ...latencies, '–', '–', '–', '–', '–']);
  });

  it('name what was not run, as wide as the others', () => {
    const table = rows(saturationTable([figures('edge', 1)], ['edge'], ['envoy: not run']));
    expect(table.at(-1)).toEqual(['envoy: not run', '–', '–', '–', '–', '–']);
  });
});
