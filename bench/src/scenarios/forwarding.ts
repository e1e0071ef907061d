import { pin, startBackendProcess, startForwardProcess } from '../harness/processes.js';
import type { BenchOptions, BenchResult } from '../harness/result.js';
import { OTHER_CORE, SUBJECT_CORE, figuresTable, roundsNotes, runRounds } from '../harness/rounds.js';
import { FORWARD_VARIANTS } from '../harness/forward-worker.js';

const REQUEST = 'GET /bench/item?q=1 HTTP/1.1\r\nhost: bench\r\nuser-agent: bench\r\naccept: */*\r\n\r\n';

/** What the proxy hop costs by itself: our handler on undici's dispatch against @fastify/reply-from, both on bare Fastify. */
export async function forwardingScenario(options: BenchOptions): Promise<BenchResult> {
  const pinned = pin(process.pid, OTHER_CORE);
  const backend = await startBackendProcess(OTHER_CORE);
  const servers = await Promise.all(FORWARD_VARIANTS.map((variant) => startForwardProcess(variant, backend.url, SUBJECT_CORE)));
  try {
    const contenders = servers.map(({ pid, port }, i) => ({
      name: FORWARD_VARIANTS[i] as string,
      base: 'reply-from',
      pid,
      port,
      request: REQUEST,
    }));
    const rounds = await runRounds(contenders, options);
    return {
      scenario: 'forwarding',
      table: figuresTable(rounds.figures),
      notes: [...roundsNotes(rounds, pinned), 'Bare Fastify on both sides: no identity, no limits, no Nest.'],
      data: rounds,
      profiles: [],
    };
  } finally {
    for (const server of servers) server.stop();
    backend.stop();
  }
}
