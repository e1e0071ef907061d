import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

export interface BenchOptions {
  /** Per measurement. */
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
  /** Where measured Node processes leave CPU profiles; undefined: none are made. */
  readonly profileFolder: string | undefined;
}

export interface BenchResult {
  readonly scenario: string;
  /** Of what was measured and measured against, beside Node. */
  readonly versions: readonly string[];
  /** Markdown. */
  readonly table: string;
  readonly notes: readonly string[];
  readonly data: unknown;
  readonly profiles: readonly string[];
  /** Budgets that were not kept, in words; the run fails for them. */
  readonly missed: readonly string[];
}

/** The result as Markdown, with what is needed to judge and repeat it; written beside the JSON. */
export function publish(result: BenchResult, options: BenchOptions, folder: string): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, ${[`Node ${process.version}`, ...result.versions].join(', ')}`;
  const run = `seed ${options.seed}, ${options.rounds} rounds of ${options.seconds} s, ${new Date().toISOString().slice(0, 10)}`;
  const text = [
    `## Scenario ${result.scenario}`,
    `${machine}; ${run}. Medians; machines are noisy, so compare ratios of one run.`,
    result.table,
    ...result.notes.map((note) => `- ${note}`),
    ...result.profiles,
  ].join('\n\n');
  mkdirSync(folder, { recursive: true });
  const suffix = options.profileFolder === undefined ? '' : '-profile';
  writeFileSync(join(folder, `${result.scenario}${suffix}.md`), `${text}\n`);
  const { seconds, rounds, seed } = options;
  writeFileSync(
    join(folder, `${result.scenario}${suffix}.json`),
    `${JSON.stringify({ machine, settings: { seconds, rounds, seed }, data: result.data }, undefined, 2)}\n`,
  );
  return text;
}
