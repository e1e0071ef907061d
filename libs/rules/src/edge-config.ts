import { dirname, resolve } from 'node:path';
import type { EdgeDocument } from './documents/edge-document.js';

export interface Upstream {
  readonly name: string;
  readonly url: string;
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly idleMs: number };
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
  readonly identity: IdentityConfig;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** How many gateways share a limit where failure mode `local` decides; 1 where no route has it. */
  readonly localGateways: number;
}

export function toEdgeConfig(edge: EdgeDocument): EdgeConfig {
  const beside = (file: string): string => resolve(dirname(edge.file), file);
  const { apiKeys, jwt = [], ipv6Prefix } = edge.identity;
  return {
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
    upstreams: new Map([...edge.upstreams].map(([name, { url, timeouts }]) => [name, { name, url, timeouts }])),
    localGateways: edge.local?.gateways ?? 1,
  };
}
