import { loadScript, type RedisClient, type Script } from '#libs/redis';
import type { VerdictKind } from './algorithms/algorithm.js';
import { algorithmOf, type BucketLimit } from './algorithms/index.js';
import type { AdmitReply, BucketStore, Check, CheckVerdict } from './bucket-store.js';
import { toCheckVerdict } from './check-verdict.js';

/** Every script that a `RedisBucketStore` runs; its client loads them on connect. */
export const bucketScripts: readonly Script[] = [loadScript('admit-n')];

const HEAD = 2;
const FIELDS = 5;
const VERDICTS: readonly VerdictKind[] = ['refused', 'admitted', 'cost-exceeds-limit'];

/** Buckets shared by a fleet: one atomic script call per request, however many checks. */
export class RedisBucketStore implements BucketStore {
  private readonly encoded = new WeakMap<BucketLimit, readonly string[]>();

  constructor(
    private readonly client: RedisClient,
    private readonly script: Script = bucketScripts[0] as Script,
  ) {}

  async admit(checks: readonly Check[]): Promise<AdmitReply> {
    const keys: string[] = [];
    const args: (string | number)[] = [];
    for (const { key, limit, cost, shadow } of checks) {
      const [kind = '', a = '', b = '', c = ''] = this.encode(limit);
      keys.push(key);
      args.push(kind, shadow ? 1 : 0, cost, a, b, c);
    }
    return toReply(await this.client.run(this.script, keys, args), checks.length);
  }

  async reset(keys: readonly string[]): Promise<number> {
    if (keys.length === 0) return 0;
    return Number(await this.client.command('UNLINK', ...keys));
  }

  private encode(limit: BucketLimit): readonly string[] {
    let encoded = this.encoded.get(limit);
    if (encoded === undefined) {
      const algorithm = algorithmOf(limit);
      encoded = [algorithm.code, ...algorithm.encode(limit).map(String)];
      this.encoded.set(limit, encoded);
    }
    return encoded;
  }
}

function toReply(reply: readonly number[], count: number): AdmitReply {
  const verdicts: CheckVerdict[] = [];
  let healed = 0;
  for (let i = 0; i < count; i += 1) {
    const at = HEAD + i * FIELDS;
    const verdict = VERDICTS[reply[at] ?? -1];
    if (verdict === undefined) throw new Error(`admit-n returned ${reply.length} values for ${count} checks`);
    verdicts.push(toCheckVerdict(verdict, reply[at + 1] ?? 0, reply[at + 2] ?? 0, reply[at + 3] ?? 0));
    healed += reply[at + 4] ?? 0;
  }
  return { admitted: reply[1] === 1, verdicts, healed };
}
