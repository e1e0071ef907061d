import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startRedis } from '#libs/testing';
import { BENCH_PEPPER, writeBenchFiles, type BenchFiles } from '../harness/documents.js';
import { summariseProfile } from '../harness/profile.js';
import { cpuSeconds, load, pin, startBackendProcess, startGatewayProcess, type GatewayProcess } from '../harness/processes.js';
import { median, spread } from '../harness/stats.js';
import { markdownTable } from '../harness/table.js';
import type { BenchOptions, BenchResult } from '../harness/result.js';

const STORES = ['off', 'memory', 'redis'] as const;
const CREDENTIALS = ['api-key', 'jwt'] as const;
type Store = (typeof STORES)[number];
type Credential = (typeof CREDENTIALS)[number];

const GATEWAY_CORE = 0;
const OTHER_CORE = 1;
const CONNECTIONS = 64;

interface Measured {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Variant {
  readonly credential: Credential;
  readonly store: Store;
  readonly saturated: Measured[];
  readonly paced: Latency[];
}

/**
 * What admission costs: the same gateway with no policy to ask (identity and routing still run), with its limits in memory, and
 * with Redis. Saturation by a closed loop; latency by an open loop at half of the slowest variant's saturation.
 */
export async function admissionScenario(options: BenchOptions): Promise<BenchResult> {
  const pinned = pin(process.pid, OTHER_CORE);
  const backend = await startBackendProcess(OTHER_CORE);
  const redis = await startRedis();
  pin(redis.pid, OTHER_CORE);
  const files = await writeBenchFiles(backend.url);
  const gateways = new Map<Store, GatewayProcess>();
  try {
    for (const store of STORES)
      gateways.set(store, await startGatewayProcess(environment(store, files, redis.url), GATEWAY_CORE, profiling(options, store)));
    const variants = CREDENTIALS.flatMap((credential) => STORES.map((store): Variant => ({ credential, store, saturated: [], paced: [] })));
    const run = (variant: Variant, seconds: number, rate: number | undefined, seed: number) =>
      measure(gateways.get(variant.store) as GatewayProcess, request(variant.credential, files), seconds, rate, seed);
    for (const variant of variants) await run(variant, Math.min(2, options.seconds), undefined, options.seed);
    for (let round = 0; round < options.rounds; round += 1) {
      for (const variant of ordered(variants, round)) {
        const { report, cpu } = await run(variant, options.seconds, undefined, options.seed + round);
        variant.saturated.push({ perSecond: report.requests / report.seconds, perCpuSecond: report.requests / cpu });
      }
    }
    const rate = Math.floor(Math.min(...variants.map(({ saturated }) => median(saturated.map(({ perSecond }) => perSecond)))) / 2);
    for (let round = 0; round < options.rounds; round += 1) {
      for (const variant of ordered(variants, round)) {
        const { report } = await run(variant, options.seconds, rate, options.seed + round);
        variant.paced.push({ p50Ms: report.p50Ms, p99Ms: report.p99Ms });
      }
    }
    await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
    gateways.clear();
    return result(variants, rate, pinned, options);
  } finally {
    await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
    backend.stop();
    await redis.stop();
    files.remove();
  }
}

function environment(store: Store, files: BenchFiles, redisUrl: string): Readonly<Record<string, string>> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    EDGE_CONFIG: files.edge,
    LIMITS_SOURCE: store === 'off' ? files.unlimited : files.limits,
    API_KEY_PEPPER: BENCH_PEPPER,
    // Saturation measures throughput: the deadline is kept out of it, or failure modes would serve what Redis cannot.
    ...(store === 'redis' ? { REDIS_URL: redisUrl, REDIS_DEADLINE_MS: '1000' } : { STORE: 'memory' }),
  };
}

function profiling(options: BenchOptions, store: Store): readonly string[] {
  return options.profileFolder === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', join(options.profileFolder, store)];
}

function request(credential: Credential, files: BenchFiles): string {
  const field = credential === 'api-key' ? `x-api-key: ${files.apiKey}` : `authorization: Bearer ${files.jwt}`;
  return `GET /bench/item?q=1 HTTP/1.1\r\nhost: bench\r\nuser-agent: bench\r\naccept: */*\r\n${field}\r\n\r\n`;
}

/** Back and forth, so that a machine that slows down or warms up favours nobody. */
function ordered(variants: readonly Variant[], round: number): readonly Variant[] {
  return round % 2 === 0 ? variants : [...variants].reverse();
}

async function measure(gateway: GatewayProcess, text: string, seconds: number, rate: number | undefined, seed: number) {
  const before = cpuSeconds(gateway.pid);
  const report = await load({ port: gateway.port, requests: [text], connections: CONNECTIONS, seconds, rate, seed }, OTHER_CORE);
  return { report, cpu: cpuSeconds(gateway.pid) - before };
}

function result(variants: readonly Variant[], rate: number, pinned: boolean, options: BenchOptions): BenchResult {
  const rows = variants.map((variant) => {
    const base = variants.find((other) => other.credential === variant.credential && other.store === 'off') ?? variant;
    const perSecond = variant.saturated.map((one) => one.perSecond);
    const perCpu = variant.saturated.map((one) => one.perCpuSecond);
    const ratio = (pick: (one: Measured) => number): string =>
      (median(variant.saturated.map(pick)) / median(base.saturated.map(pick))).toFixed(2);
    const latency = (pick: (one: Latency) => number): string => median(variant.paced.map(pick)).toFixed(2);
    const added = (pick: (one: Latency) => number): string => {
      const difference = median(variant.paced.map(pick)) - median(base.paced.map(pick));
      return `${difference >= 0 ? '+' : ''}${difference.toFixed(2)}`;
    };
    return [
      `${variant.credential}, ${variant.store}`,
      median(perSecond).toFixed(0),
      `±${(spread(perSecond) * 100).toFixed(0)} %`,
      ratio((one) => one.perSecond),
      median(perCpu).toFixed(0),
      ratio((one) => one.perCpuSecond),
      latency((one) => one.p50Ms),
      added((one) => one.p50Ms),
      latency((one) => one.p99Ms),
      added((one) => one.p99Ms),
    ];
  });
  const head = ['variant', 'req/s', 'spread', '× off', 'req/CPU-s', '× off', 'p50 ms', 'added', 'p99 ms', 'added'];
  const notes = [
    `Saturation: closed loop, ${CONNECTIONS} connections. Latency: open loop at ${rate} req/s, half of the slowest variant's saturation, from the intended time of sending.`,
    pinned ? 'The gateway alone on one core; load, backend and Redis on the other.' : 'Processes could not be bound to cores (no taskset).',
    '`off`: the tenant is explicitly unlimited, so routing and identity run and no store is asked. Otherwise two policies apply.',
  ];
  return { scenario: 'admission', table: markdownTable(head, rows), notes, data: { rate, variants }, profiles: profiles(options) };
}

function profiles(options: BenchOptions): readonly string[] {
  const folder = options.profileFolder;
  if (folder === undefined) return [];
  return STORES.map((store) => {
    const [file = ''] = readdirSync(join(folder, store));
    const { byOrigin, topFunctions } = summariseProfile(join(folder, store, file));
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
    const rows = (pairs: readonly (readonly [string, number])[]): string[][] => pairs.map(([name, share]) => [name, percent(share)]);
    return [
      `### Where the time goes: ${store}`,
      markdownTable(['origin', 'self time'], rows(byOrigin.filter(([, share]) => share >= 0.005))),
      markdownTable(['function', 'self time'], rows(topFunctions)),
    ].join('\n\n');
  });
}
