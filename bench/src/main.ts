import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '#libs/testing';
import { publish, type BenchOptions, type BenchResult } from './harness/result.js';
import { admissionScenario } from './scenarios/admission.js';
import { forwardingScenario } from './scenarios/forwarding.js';

const scenarios: Readonly<Record<string, (options: BenchOptions) => Promise<BenchResult>>> = {
  admission: admissionScenario,
  forwarding: forwardingScenario,
};

const USAGE = `npm run bench -- [--scenario ${Object.keys(scenarios).join('|')}] [--seconds 5] [--rounds 3] [--seed 1] [--quick] [--cpu-prof]`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'admission' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    'cpu-prof': { type: 'boolean', default: false },
  },
});
const scenario = scenarios[values.scenario];
const [seconds, rounds, seed] = [values.seconds, values.rounds, values.seed].map(Number);
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
const result = await scenario(options);
const redisVersion = /v=([\d.]+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout)?.[1] ?? 'unknown';
// A quick run is for trying the bench itself: its figures are not kept.
const folder = values.quick ? mkdtempSync(join(tmpdir(), 'esclusa-bench-')) : join(repositoryRoot, 'bench/results');
process.stdout.write(`${publish(result, options, redisVersion, folder)}\n`);
