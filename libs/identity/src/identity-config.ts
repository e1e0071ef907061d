/** One issuer of JWTs, with everything pinned that a token could otherwise choose. */
export interface JwtIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly jwks: { readonly url: string } | { readonly file: string };
  readonly algorithms: readonly string[];
  /** Names of the claims that hold the tenant and, if wanted, the user. */
  readonly claims: { readonly tenant: string; readonly user: string | undefined };
}

/** How callers are known, resolved. */
export interface IdentityConfig {
  /** CIDRs or addresses whose forwarding fields are believed. */
  readonly trustedProxies: readonly string[];
  /** How many leading bits of an IPv6 address make one caller. */
  readonly ipv6Prefix: number;
  readonly apiKeys: { readonly header: string; readonly file: string } | undefined;
  readonly jwt: readonly JwtIssuer[];
}
