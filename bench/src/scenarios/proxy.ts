import { judge, judgementText, type Budget } from '../harness/budgets.js';
import { writeProxyFiles, type ProxyFiles } from '../harness/documents.js';
import { profileArgs, profileSections } from '../harness/profile.js';
import {
  pin,
  startBackendProcess,
  startEnvoyProcess,
  startGatewayProcess,
  startProxyProcess,
  type ServerProcess,
  type WatchedProcess,
} from '../harness/processes.js';
import type { BenchOptions, BenchResult } from '../harness/result.js';
import { OTHER_CORE, SUBJECT_CORE, roundsNotes, runRounds, type Contender } from '../harness/rounds.js';
import { packageVersions, programVersion } from '../harness/versions.js';
import { latencyTable, saturationTable } from './proxy-tables.js';

const REQUEST = 'GET /bench/item?q=1 HTTP/1.1\r\nhost: bench\r\nuser-agent: bench\r\naccept: */*\r\n\r\n';
const RATE = 2000;
const GATEWAYS = ['esclusa', 'esclusa-limited'] as const;
const PEERS = ['reply-from', 'express-hpm', 'undici'] as const;
const PACKAGES = ['fastify', '@fastify/reply-from', 'express', 'http-proxy-middleware', 'undici'];
const BASES = ['reply-from', 'express-hpm'];
const BUDGETS: readonly Budget[] = [
  { name: 'esclusa', base: 'reply-from', atLeast: 1 },
  { name: 'esclusa', base: 'express-hpm', atLeast: 2 },
];

/** What forwarding costs, and where its tail comes from: the gateway beside the proxies that one would write or run instead. */
export async function proxyScenario(options: BenchOptions): Promise<BenchResult> {
  const pinned = pin(process.pid, OTHER_CORE);
  const backend = await startBackendProcess(OTHER_CORE);
  const files = writeProxyFiles(backend.url);
  const subjects = new Map<string, ServerProcess & Partial<WatchedProcess>>();
  const stopSubjects = () => Promise.all([...subjects.values()].map((subject) => subject.stop()));
  try {
    for (const name of GATEWAYS) {
      subjects.set(name, await startGatewayProcess(environment(name, files), SUBJECT_CORE, profileArgs(options.profileFolder, name)));
    }
    for (const name of PEERS)
      subjects.set(name, await startProxyProcess(name, backend.url, SUBJECT_CORE, profileArgs(options.profileFolder, name)));
    const envoy = process.env.ENVOY_BIN ?? 'envoy';
    const envoyVersion = programVersion(envoy, /\/(\d+\.\d+\.\d+)\//);
    if (envoyVersion !== undefined) subjects.set('envoy', await startEnvoyProcess(envoy, backend.port, SUBJECT_CORE));

    const rounds = await runRounds(contenders(new Map([['direct', backend], ...subjects])), options, RATE);
    // Profiles are written when their process ends.
    await stopSubjects();
    const notRun = envoyVersion === undefined ? ['envoy: not run, no binary (ENVOY_BIN, or `envoy` on the PATH)'] : [];
    const judgements = judge(BUDGETS, rounds.figures);
    return {
      scenario: 'proxy',
      versions: [...packageVersions(PACKAGES), ...(envoyVersion === undefined ? [] : [`Envoy ${envoyVersion}`])],
      table: [saturationTable(rounds.figures, BASES, notRun), latencyTable(rounds.figures, notRun)].join('\n\n'),
      notes: [
        ...judgements.map((judgement) => `Budget: ${judgementText(judgement)}.`),
        ...roundsNotes(rounds, pinned),
        '`direct` is the load on the backend itself, both on one core: the floor of every latency, and no proxy.',
        '`esclusa` has a route that is explicitly unlimited, `esclusa-limited` one bucket per address and route in memory; neither knows callers.',
        '`late` is how late the load itself was with what was due: where it comes near a latency, that latency is the load’s.',
        '`core wait` is how long the busiest thread was ready to run while others had its core.',
      ],
      data: { ...rounds, judgements },
      profiles: profileSections(options.profileFolder, [...GATEWAYS, ...PEERS]),
      missed: judgements.filter(({ kept }) => !kept).map(judgementText),
    };
  } finally {
    await stopSubjects();
    await backend.stop();
    files.remove();
  }
}

function contenders(servers: ReadonlyMap<string, ServerProcess & Partial<WatchedProcess>>): readonly Contender[] {
  return [...servers].map(([name, { pid, port, runtime }]) => ({ name, base: name, pid, port, request: REQUEST, runtime }));
}

function environment(name: (typeof GATEWAYS)[number], files: ProxyFiles): Readonly<Record<string, string>> {
  const limits = name === 'esclusa' ? files.unlimited : files.limits;
  return { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', EDGE_CONFIG: files.edge, LIMITS_SOURCE: limits, STORE: 'memory' };
}
