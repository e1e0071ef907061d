import { dirname, resolve } from 'node:path';
import type { EdgeDocument } from './documents/edge-document.js';
import type { ListenerOptions, ListenerTlsOptions } from './documents/listener-options.js';
import type { ForwardedHost, RetriesOptions, TimeoutsOptions, UpstreamOptions } from './documents/upstream-options.js';

export interface Upstream {
  readonly name: string;
  /** At least one; origins without a path. */
  readonly urls: readonly string[];
  readonly timeouts: Readonly<TimeoutsOptions>;
  /** Sockets to each address, and requests that may wait for one. */
  readonly connections: number;
  readonly queue: number;
  /** Whose Host it sees. */
  readonly host: ForwardedHost;
  readonly retries: Readonly<RetriesOptions>;
  readonly tls: UpstreamTls;
}

/** Files are absolute. */
export interface UpstreamTls {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly serverName: string | undefined;
}

export interface Listener extends Readonly<Omit<ListenerOptions, 'tls' | 'hosts'>> {
  readonly tls: Readonly<ListenerTlsOptions> | undefined;
  /** Lower case; undefined: all. */
  readonly hosts: readonly string[] | undefined;
}

export interface IdentityConfig {
  readonly trustedProxies: readonly string[];
  readonly ipv6Prefix: number;
  readonly apiKeys: { readonly header: string; readonly file: string } | undefined;
  readonly jwt: readonly {
    readonly issuer: string;
    readonly audience: string;
    readonly jwks: { readonly url: string } | { readonly file: string };
    readonly algorithms: readonly string[];
    readonly claims: { readonly tenant: string; readonly user: string | undefined };
  }[];
}

/** The edge document, resolved: no optionals, files absolute, header names in lower case. */
export interface EdgeConfig {
  /** What the edge calls itself towards others. */
  readonly name: string;
  readonly listener: Listener;
  /** Share of the traces started here that are marked as sampled. */
  readonly sampleRatio: number;
  readonly identity: IdentityConfig;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** How many gateways share a limit where failure mode `local` decides; 1 where no route has it. */
  readonly localGateways: number;
}

export function toEdgeConfig(edge: EdgeDocument): EdgeConfig {
  const beside = (file: string): string => resolve(dirname(edge.file), file);
  const { apiKeys, jwt = [], ipv6Prefix } = edge.identity;
  const { tls, hosts, ...limits } = edge.listener;
  return {
    name: edge.name,
    listener: { ...limits, hosts, tls: tls && { certFile: beside(tls.certFile), keyFile: beside(tls.keyFile), http2: tls.http2 } },
    sampleRatio: edge.tracing.sampleRatio,
    identity: {
      trustedProxies: edge.trustedProxies,
      ipv6Prefix,
      apiKeys: apiKeys === undefined ? undefined : { header: apiKeys.header.toLowerCase(), file: beside(apiKeys.file) },
      jwt: jwt.map(({ issuer, audience, jwks, algorithms, claims }) => ({
        issuer,
        audience,
        jwks: jwks.url === undefined ? { file: beside(jwks.file ?? '') } : { url: jwks.url },
        algorithms,
        claims: { tenant: claims.tenant, user: claims.user },
      })),
    },
    upstreams: new Map([...edge.upstreams].map(([name, upstream]) => [name, toUpstream(name, upstream, beside)])),
    localGateways: edge.local?.gateways ?? 1,
  };
}

function toUpstream(name: string, { url, urls, tls, ...rest }: UpstreamOptions, beside: (file: string) => string): Upstream {
  const { timeouts, connections, queue, host, retries } = rest;
  const absolute = (file: string | undefined): string | undefined => (file === undefined ? undefined : beside(file));
  return {
    name,
    urls: urls ?? [url ?? ''],
    timeouts,
    connections,
    queue,
    host,
    retries,
    tls: {
      caFile: absolute(tls?.caFile),
      certFile: absolute(tls?.certFile),
      keyFile: absolute(tls?.keyFile),
      serverName: tls?.serverName,
    },
  };
}
