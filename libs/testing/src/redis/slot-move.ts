import { waitFor } from '../wait-for.js';
import { ownerOf, viewFrom, type MemberView } from './cluster-view.js';
import { running, type RedisNode } from './redis-node.js';

const MIGRATE_TIMEOUT_MS = 5000;
const KEYS_AT_ONCE = 100;

type Node = RedisNode & { readonly id: string };

/** A slot on its way, MIGRATING at `from` and IMPORTING at `to`: `from` answers ASK for the keys that it does not have (any more). */
export interface SlotMove<Member extends RedisNode> {
  readonly slot: number;
  readonly from: Member;
  readonly to: Member;
  /** Moves up to so many keys, all by default; returns how many it moved. Those moved are answered by ASK from now on. */
  moveKeys(most?: number): Promise<number>;
  /** Moves the keys that are left, gives the slot to `to`, and waits until all running nodes know. */
  finish(): Promise<void>;
}

/** @throws Error when the server refuses, e.g. because the slot is on its way already */
export async function startSlotMove<Member extends Node>(
  slot: number,
  { from, to, nodes }: { readonly from: Member; readonly to: Member; readonly nodes: readonly Member[] },
): Promise<SlotMove<Member>> {
  const number = String(slot);
  await to.command('CLUSTER', 'SETSLOT', number, 'IMPORTING', from.id);
  await from.command('CLUSTER', 'SETSLOT', number, 'MIGRATING', to.id);

  const moveKeys = async (most = Infinity) => {
    let moved = 0;
    while (moved < most) {
      const count = String(Math.min(KEYS_AT_ONCE, most - moved));
      const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', number, count)) as string[];
      if (keys.length === 0) break;
      await from.command('MIGRATE', '127.0.0.1', String(to.port), '', '0', String(MIGRATE_TIMEOUT_MS), 'KEYS', ...keys);
      moved += keys.length;
    }
    return moved;
  };
  const finish = async () => {
    await moveKeys();
    // The new owner first: the old one would send callers to it.
    for (const node of [to, from]) await node.command('CLUSTER', 'SETSLOT', number, 'NODE', to.id);
    const hasLearnt = (view: readonly MemberView[]) => ownerOf(slot, [view]) === to.id;
    const known = async () => (await Promise.all(running(nodes).map(viewFrom))).every(hasLearnt);
    await waitFor(known, { what: `all nodes know that ${to.port} has slot ${slot}` });
  };
  return { slot, from, to, moveKeys, finish };
}
