import { startRedis } from '#libs/testing';
import { BENCH_PEPPER, writeBenchFiles, type BenchFiles } from '../harness/documents.js';
import { profileArgs, profileSections } from '../harness/profile.js';
import { pin, startBackendProcess, startGatewayProcess, type ServerProcess } from '../harness/processes.js';
import type { BenchOptions, BenchResult } from '../harness/result.js';
import { OTHER_CORE, SUBJECT_CORE, figuresTable, roundsNotes, runRounds, type Contender } from '../harness/rounds.js';
import { programVersion } from '../harness/versions.js';

const STORES = ['off', 'memory', 'redis'] as const;
const CREDENTIALS = ['api-key', 'jwt'] as const;
type Store = (typeof STORES)[number];
/** Saturation measures throughput: the deadline is kept out of it, or queues of the bench's own making would end the run. */
const DEADLINE_MS = 1000;

/**
 * What admission costs: the same gateway with no policy to ask (identity and routing still run), with its limits in memory, and
 * with Redis; each with API keys and with JWTs.
 */
export async function admissionScenario(options: BenchOptions): Promise<BenchResult> {
  const pinned = pin(process.pid, OTHER_CORE);
  const backend = await startBackendProcess(OTHER_CORE);
  const redis = await startRedis();
  pin(redis.pid, OTHER_CORE);
  const files = await writeBenchFiles(backend.url);
  const gateways: ServerProcess[] = [];
  const stopGateways = () => Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  try {
    const contenders: Contender[] = [];
    for (const store of STORES) {
      const gateway = await startGatewayProcess(
        environment(store, files, redis.url),
        SUBJECT_CORE,
        profileArgs(options.profileFolder, store),
      );
      gateways.push(gateway);
      for (const credential of CREDENTIALS) {
        const { pid, port } = gateway;
        contenders.push({ name: `${credential}, ${store}`, base: `${credential}, off`, pid, port, request: request(credential, files) });
      }
    }
    const rounds = await runRounds(contenders, options);
    // Profiles are written when their process ends.
    await stopGateways();
    return {
      scenario: 'admission',
      versions: [`Redis ${programVersion('redis-server', /v=([\d.]+)/) ?? 'unknown'}`],
      table: figuresTable(rounds.figures),
      notes: [
        ...roundsNotes(rounds, pinned),
        "The open loop's rate is half of the slowest variant's saturation.",
        'The base is `off`: the tenant is explicitly unlimited, so routing and identity run and no store is asked. Otherwise two policies apply.',
        `With Redis the deadline is ${DEADLINE_MS} ms and the route is closed: an answer that Redis did not decide would be a 503 and end the run.`,
      ],
      data: rounds,
      profiles: profileSections(options.profileFolder, STORES),
      missed: [],
    };
  } finally {
    await stopGateways();
    await backend.stop();
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
    ...(store === 'redis' ? { REDIS_URL: redisUrl, REDIS_DEADLINE_MS: String(DEADLINE_MS) } : { STORE: 'memory' }),
  };
}

function request(credential: (typeof CREDENTIALS)[number], files: BenchFiles): string {
  const field = credential === 'api-key' ? `x-api-key: ${files.apiKey}` : `authorization: Bearer ${files.jwt}`;
  return `GET /bench/item?q=1 HTTP/1.1\r\nhost: bench\r\nuser-agent: bench\r\naccept: */*\r\n${field}\r\n\r\n`;
}
