import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '#libs/testing';
import { publish, type BenchOptions, type BenchResult } from './harness/result.js';
import { admissionScenario } from './scenarios/admission.js';
import { proxyScenario } from './scenarios/proxy.js';

const scenarios = {
  admission: { run: admissionScenario, seconds: 5, rounds: 3 },
  proxy: { run: proxyScenario, seconds: 3, rounds: 4 },
} as const satisfies Readonly<Record<string, Defaults & { readonly run: (options: BenchOptions) => Promise<BenchResult> }>>;
type Defaults = Pick<BenchOptions, 'seconds' | 'rounds'>;

const USAGE = `npm run bench -- [--scenario ${Object.keys(scenarios).join('|')}] [--seconds N] [--rounds N] [--seed 1] [--quick] [--cpu-prof]`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'admission' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    'cpu-prof': { type: 'boolean', default: false },
  },
});
const scenario = Object.hasOwn(scenarios, values.scenario) ? scenarios[values.scenario as keyof typeof scenarios] : undefined;
const [seconds, rounds, seed] = [values.seconds ?? scenario?.seconds, values.rounds ?? scenario?.rounds, values.seed].map(Number);
if (scenario === undefined || !seconds || !rounds || !Number.isInteger(seed)) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}
const options: BenchOptions = {
  seconds: values.quick ? 1 : seconds,
  rounds: values.quick ? 1 : rounds,
  seed: seed ?? 1,
  profileFolder: values['cpu-prof'] ? mkdtempSync(join(tmpdir(), 'esclusa-prof-')) : undefined,
};
const result = await scenario.run(options);
// A quick run is for trying the bench itself: its figures are not kept.
const folder = values.quick ? mkdtempSync(join(tmpdir(), 'esclusa-bench-')) : join(repositoryRoot, 'bench/results');
process.stdout.write(`${publish(result, options, folder)}\n`);
for (const miss of result.missed) process.stderr.write(`missed: ${miss}\n`);
if (result.missed.length > 0) process.exitCode = 1;
