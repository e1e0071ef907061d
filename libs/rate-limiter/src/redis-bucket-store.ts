import { StoreFault, loadScript, type RedisClient, type Script } from '#libs/redis';
import type { VerdictKind } from './algorithms/algorithm.js';
import { algorithmOf, type BucketLimit } from './algorithms/index.js';
import type { AdmitReply, BucketStore, Check, CheckVerdict } from './bucket-store.js';
import { toCheckVerdict } from './check-verdict.js';

/** Every script that a `RedisBucketStore` runs; its client loads them on connect. */
export const bucketScripts: readonly Script[] = [loadScript('admit-n')];

const HEAD = 2;
const FIELDS = 5;
const VERDICTS: readonly VerdictKind[] = ['refused', 'admitted', 'cost-exceeds-limit'];

type Asked = readonly Check[];

/**
 * Buckets shared by a fleet: one atomic script call per request, however many checks. In a Cluster one per slot, all in the same tick; what a slot
 * has charged is given back when another one refuses or does not answer. Until it is, others may find that much less than there is, never more;
 * should giving back fail, the caller has spent it.
 */
export class RedisBucketStore implements BucketStore {
  private readonly encoded = new WeakMap<BucketLimit, readonly string[]>();

  constructor(
    private readonly client: RedisClient,
    private readonly script: Script = bucketScripts[0] as Script,
  ) {}

  async admit(checks: Asked): Promise<AdmitReply> {
    const bySlot = this.bySlot(checks);
    if (bySlot === undefined) return this.ask(checks);
    const asked = [...bySlot.values()];
    const answers = await Promise.allSettled(asked.map((those) => this.ask(those)));
    const all = answers.every((answer) => answer.status === 'fulfilled' && answer.value.admitted);
    if (!all) {
      answers.forEach((answer, i) => {
        if (answer.status === 'fulfilled') this.giveBack(asked[i] as Asked, answer.value);
      });
    }
    const refused = answers.some((answer) => answer.status === 'fulfilled' && !answer.value.admitted);
    const failed = answers.find((answer) => answer.status === 'rejected');
    // A refusal stands, whatever the others would have said.
    if (failed !== undefined && !refused) throw failed.reason;
    return merge(checks, asked, answers, all);
  }

  async reset(keys: readonly string[]): Promise<number> {
    const bySlot = new Map<number, string[]>();
    for (const key of keys) bySlot.set(this.client.slotOf(key), [...(bySlot.get(this.client.slotOf(key)) ?? []), key]);
    const counts = await Promise.all([...bySlot.values()].map((those) => this.client.command('UNLINK', ...those)));
    return counts.reduce((sum: number, count) => sum + Number(count), 0);
  }

  /** Undefined where one call does for all of them. */
  private bySlot(checks: Asked): ReadonlyMap<number, Asked> | undefined {
    const first = this.client.slotOf(checks[0]?.key ?? '');
    if (checks.every(({ key }) => this.client.slotOf(key) === first)) return undefined;
    const bySlot = new Map<number, Check[]>();
    for (const check of checks) {
      const slot = this.client.slotOf(check.key);
      const those = bySlot.get(slot);
      if (those === undefined) bySlot.set(slot, [check]);
      else those.push(check);
    }
    return bySlot;
  }

  private async ask(checks: Asked): Promise<AdmitReply> {
    const keys: string[] = [];
    const args: (string | number)[] = [];
    for (const { key, limit, cost, shadow } of checks) {
      const [kind = '', a = '', b = '', c = ''] = this.encode(limit);
      keys.push(key);
      args.push(kind, shadow ? 1 : 0, cost, a, b, c);
    }
    return toReply(await this.client.run(this.script, keys, args), checks.length);
  }

  /** Nobody waits for it. */
  private giveBack(checks: Asked, { admitted, verdicts }: AdmitReply): void {
    const charged = checks.filter(({ cost }, i) => admitted && cost > 0 && verdicts[i]?.verdict === 'admitted');
    if (charged.length === 0) return;
    this.ask(charged.map((check) => ({ ...check, cost: -check.cost }))).catch((error: unknown) => {
      // The client has counted it; what was charged stays charged.
      if (!(error instanceof StoreFault)) throw error;
    });
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

const UNKNOWN: CheckVerdict = { verdict: 'unknown', remaining: 0, retryAfterMs: undefined, resetAfterMs: 0 };

/** One reply from those of several slots, in the order of the checks. */
function merge(
  checks: Asked,
  asked: readonly Asked[],
  answers: readonly PromiseSettledResult<AdmitReply>[],
  admitted: boolean,
): AdmitReply {
  const byCheck = new Map<Check, CheckVerdict>();
  let healed = 0;
  answers.forEach((answer, i) => {
    if (answer.status === 'rejected') return;
    const reply = answer.value;
    healed += reply.healed;
    asked[i]?.forEach((check, at) => {
      const verdict = reply.verdicts[at] as CheckVerdict;
      // What this slot charged is on its way back.
      const returned = !admitted && reply.admitted && verdict.verdict === 'admitted' ? check.cost : 0;
      byCheck.set(check, returned === 0 ? verdict : { ...verdict, remaining: verdict.remaining + returned });
    });
  });
  return { admitted, verdicts: checks.map((check) => byCheck.get(check) ?? UNKNOWN), healed };
}
