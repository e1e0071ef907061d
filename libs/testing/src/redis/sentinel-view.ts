import { running, type RedisNode } from './redis-node.js';

/** The only set of servers that the sentinels watch. */
export const SENTINEL_NAME = 'main';

/** What a sentinel says of a server, by its names: `port`, `flags`, `config-epoch`, `num-slaves` … */
type Fields = ReadonlyMap<string, string>;

function readFields(reply: unknown): Fields {
  const words = reply as readonly string[];
  return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ''] as const] : [])));
}

function portOf(fields: Fields): number {
  return Number(fields.get('port'));
}

async function masterFrom(sentinel: RedisNode): Promise<Fields> {
  return readFields(await sentinel.command('SENTINEL', 'MASTER', SENTINEL_NAME));
}

/** The ports that the running sentinels name, the newest first. */
export async function masterPorts(sentinels: readonly RedisNode[]): Promise<readonly number[]> {
  const masters = await Promise.all(running(sentinels).map(masterFrom));
  return masters.sort((a, b) => Number(b.get('config-epoch')) - Number(a.get('config-epoch'))).map(portOf);
}

export interface SentinelSet {
  readonly servers: readonly RedisNode[];
  readonly sentinels: readonly RedisNode[];
}

/**
 * All running sentinels know each other and every server, and name the same running master; it is one, and the other running
 * servers follow it and have caught up.
 * @throws Error saying what is not so
 */
export async function mustAgree({ servers, sentinels }: SentinelSet): Promise<void> {
  const [port, ...others] = new Set(await masterPorts(sentinels));
  if (port === undefined || others.length > 0) throw new Error('the sentinels do not name one master');
  const up = running(servers);
  const master = up.find((server) => server.port === port);
  if (master === undefined) throw new Error(`the master is ${port}, which does not run`);
  const role = JSON.stringify(await master.command('ROLE'));
  if (!role.startsWith('["master"')) throw new Error(`${port} is no master: ${role}`);
  const replicas = up.filter((server) => server !== master);
  await Promise.all(replicas.map((replica) => mustFollow(replica, port)));
  const replicaPorts = replicas.map((replica) => replica.port);
  await Promise.all(running(sentinels).map((sentinel) => mustKnow(sentinel, replicaPorts, { servers, sentinels })));
}

async function mustFollow(replica: RedisNode, masterPort: number): Promise<void> {
  const info = String(await replica.command('INFO', 'replication'));
  const follows = info.includes(`master_port:${masterPort}\r`) && info.includes('master_link_status:up');
  if (!follows) throw new Error(`${replica.port} does not follow ${masterPort}:\n${info}`);
}

async function mustKnow(sentinel: RedisNode, replicas: readonly number[], { servers, sentinels }: SentinelSet): Promise<void> {
  const master = await masterFrom(sentinel);
  const seen = ['flags', 'num-slaves', 'num-other-sentinels'].map((name) => master.get(name)).join(' ');
  const wanted = `master ${servers.length - 1} ${sentinels.length - 1}`;
  if (seen !== wanted) throw new Error(`sentinel ${sentinel.port} sees ${seen}, not ${wanted}`);
  const reply = (await sentinel.command('SENTINEL', 'REPLICAS', SENTINEL_NAME)) as readonly unknown[];
  const good = reply.map(readFields).filter((fields) => fields.get('flags') === 'slave' && fields.get('master-link-status') === 'ok');
  const missing = replicas.filter((port) => !good.some((fields) => portOf(fields) === port));
  if (missing.length > 0) throw new Error(`sentinel ${sentinel.port} would not promote ${missing.join(', ')}`);
}
