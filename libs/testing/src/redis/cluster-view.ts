import { running, type RedisNode } from './redis-node.js';

/** What one node of a cluster believes of one, maybe itself. */
export interface MemberView {
  readonly id: string;
  readonly port: number;
  /** `myself`, `master`, `slave`, `fail?`, `fail`, `handshake`, `noaddr` … */
  readonly flags: readonly string[];
  /** Of two that claim a slot, the one with the higher epoch has it. */
  readonly configEpoch: number;
  /** First and last, both inclusive. */
  readonly slots: readonly (readonly [number, number])[];
}

/** Reads the reply of CLUSTER NODES; slots that are half-way count as those of their present owner. */
export function readClusterNodes(reply: string): readonly MemberView[] {
  return reply.trim().split('\n').map(readMember);
}

function readMember(line: string): MemberView {
  const [id = '', address = '', flags = '', , , , configEpoch = '', , ...slots] = line.split(' ');
  return {
    id,
    port: Number(/:(\d+)@/.exec(address)?.[1]),
    flags: flags.split(','),
    configEpoch: Number(configEpoch),
    slots: slots.filter((slot) => !slot.startsWith('[')).map(readRange),
  };
}

function readRange(text: string): readonly [number, number] {
  const [first = '', last = first] = text.split('-');
  return [Number(first), Number(last)];
}

/** The id of a slot's owner, where views differ that of the newest; undefined if nobody has it. */
export function ownerOf(slot: number, views: readonly (readonly MemberView[])[]): string | undefined {
  const owners = views.flat().filter(({ slots }) => slots.some(([first, last]) => first <= slot && slot <= last));
  return owners.sort((a, b) => b.configEpoch - a.configEpoch)[0]?.id;
}

export async function viewFrom(node: RedisNode): Promise<readonly MemberView[]> {
  return readClusterNodes(String(await node.command('CLUSTER', 'NODES')));
}

export async function viewsOf(nodes: readonly RedisNode[]): Promise<readonly (readonly MemberView[])[]> {
  return Promise.all(running(nodes).map(viewFrom));
}

/**
 * All running nodes serve, know each other, and agree on who has which slot; these are running, and every replica follows one of
 * them and has caught up.
 * @throws Error saying what is not so
 */
export async function mustBeOk(nodes: readonly (RedisNode & { readonly id: string })[]): Promise<void> {
  const up = running(nodes);
  const views = await viewsOf(up);
  const layouts = new Set(views.map(layout));
  if (layouts.size !== 1) throw new Error('the nodes disagree on the slots');
  for (const { id, port } of up) {
    if (views.some((view) => !knows(view, id))) throw new Error(`not every node knows ${port}`);
  }
  for (const { id, port, slots } of views[0] ?? []) {
    if (slots.length > 0 && !up.some((node) => node.id === id)) throw new Error(`slots are with ${port}, which does not run`);
  }
  await Promise.all(up.map(mustServe));
}

function layout(view: readonly MemberView[]): string {
  const owners = view.filter(({ slots }) => slots.length > 0).map(({ id, slots }) => `${id} ${slots.join(' ')}`);
  return owners.sort().join('\n');
}

function knows(view: readonly MemberView[], id: string): boolean {
  const bad = ['fail', 'fail?', 'handshake', 'noaddr'];
  return view.some((member) => member.id === id && !member.flags.some((flag) => bad.includes(flag)));
}

async function mustServe(node: RedisNode): Promise<void> {
  const info = String(await node.command('CLUSTER', 'INFO'));
  if (!info.includes('cluster_state:ok')) throw new Error(`${node.port} does not serve:\n${info}`);
  const replication = String(await node.command('INFO', 'replication'));
  if (replication.includes('master_link_status:down')) throw new Error(`${node.port} has not caught up:\n${replication}`);
}
