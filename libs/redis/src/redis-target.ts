/** Where Redis is, as a REDIS_URL says it. */
export type RedisTarget =
  | (Access & { readonly kind: 'single'; readonly nodes: readonly [HostAndPort]; readonly db: number })
  | (Access & { readonly kind: 'sentinel'; readonly nodes: readonly HostAndPort[]; readonly name: string; readonly db: number })
  | (Access & { readonly kind: 'cluster'; readonly nodes: readonly HostAndPort[] });

interface Access {
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const FORMS =
  'redis://[user:password@]host[:port][/db], redis+sentinel://host[:port],…/name[/db] or redis+cluster://host[:port],…; rediss for TLS';
const URL_PARTS = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]*)((?:\/[^?#]*)?)$/;
const PORT = { single: 6379, sentinel: 26379, cluster: 6379 } as const;

/** @returns the target, or what is wrong with the text */
export function parseRedisUrl(text: string): RedisTarget | { readonly problem: string } {
  const [, scheme, form, userinfo, hosts = '', path = ''] = URL_PARTS.exec(text) ?? [];
  if (scheme === undefined) return { problem: `must be ${FORMS}` };
  const kind = (form ?? 'single') as RedisTarget['kind'];
  const access = accessOf(userinfo);
  if (access === undefined) return { problem: 'user and password must be percent-encoded where they are not plain' };
  const nodes = hosts.split(',').map((host) => hostAndPort(host, PORT[kind]));
  if (hosts === '') return { problem: 'names no host' };
  const bad = nodes.findIndex((node) => node === undefined);
  if (bad >= 0) return { problem: `"${hosts.split(',')[bad] ?? ''}" is no host, or no host:port with a port from 1 to 65535` };
  const common = { ...access, tls: scheme === 'rediss', nodes: nodes as HostAndPort[] };
  const segments = path.split('/').slice(1);
  const [first = ''] = segments;
  switch (kind) {
    case 'single': {
      if (common.nodes.length > 1) return { problem: 'names several hosts; that needs redis+sentinel:// or redis+cluster://' };
      const db = database(segments);
      if (db === undefined) return { problem: 'the path must be a database number' };
      return { ...common, kind, nodes: [common.nodes[0] as HostAndPort], db };
    }
    case 'sentinel': {
      const db = database(segments.slice(1));
      if (first === '' || db === undefined)
        return { problem: 'the path must be the name of the master, and then at most a database number' };
      return { ...common, kind, name: decodeURIComponent(first), db };
    }
    case 'cluster':
      if (path !== '' && path !== '/') return { problem: 'a cluster has no path: it has no databases' };
      return { ...common, kind };
  }
}

function accessOf(userinfo: string | undefined): Pick<Access, 'username' | 'password'> | undefined {
  if (userinfo === undefined) return { username: undefined, password: undefined };
  const at = userinfo.indexOf(':');
  try {
    const [username, password] = at < 0 ? [userinfo, ''] : [userinfo.slice(0, at), userinfo.slice(at + 1)];
    return { username: decodeURIComponent(username) || undefined, password: decodeURIComponent(password) || undefined };
  } catch {
    return undefined;
  }
}

function hostAndPort(text: string, defaultPort: number): HostAndPort | undefined {
  const [, inBrackets, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** 0 where none is named; undefined where it is no number. */
function database(segments: readonly string[]): number | undefined {
  const [text = '', ...more] = segments;
  if (more.length > 0 || !/^\d{0,4}$/.test(text)) return undefined;
  return Number(text);
}
