import { createHash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose';
import type { JwtIssuer } from './identity-config.js';
import { keySource, type KeySource } from './jwks.js';
import { KeysUnavailableError } from './remote-keys.js';
import { VerifiedTokens } from './verified-tokens.js';

/** What a verified token says of its bearer. */
export interface Claims {
  readonly tenant: string;
  readonly user: string | undefined;
}

export type Verification = { readonly claims: Claims } | { readonly failed: 'invalid' | 'keys-unavailable' };

const MAX_TOKEN_BYTES = 8192;
const MAX_CACHED = 10_000;
const MAX_CACHED_MS = 60_000;
const CLOCK_TOLERANCE_S = 5;
const INVALID: Verification = { failed: 'invalid' };

interface Issuer extends JwtIssuer {
  readonly keys: KeySource;
}

/** Verifies bearer tokens by what the configuration pins: issuer, audience, algorithms, claims. A token chooses nothing but which issuer to ask. */
export class JwtVerifier {
  private readonly issuers: ReadonlyMap<string, Issuer>;
  private readonly verified = new VerifiedTokens(MAX_CACHED);
  private readonly pending = new Map<string, Promise<Verification>>();

  /** @throws Error where two issuers have one name, or a JWKS file is missing or bad */
  constructor(issuers: readonly JwtIssuer[], log: { warn(message: string): void }) {
    const twice = issuers.find(({ issuer }, i) => issuers.findIndex((other) => other.issuer === issuer) < i);
    if (twice !== undefined) throw new Error(`issuer ${JSON.stringify(twice.issuer)}: allowed: once`);
    this.issuers = new Map(issuers.map((issuer) => [issuer.issuer, { ...issuer, keys: keySource(issuer.jwks, log) }]));
  }

  get configured(): boolean {
    return this.issuers.size > 0;
  }

  /** Synchronous for a token that was verified within the last minute. */
  verify(token: string): Verification | Promise<Verification> {
    if (token.length > MAX_TOKEN_BYTES) return INVALID;
    const hash = createHash('sha256').update(token).digest('base64');
    const claims = this.verified.get(hash, Date.now());
    if (claims !== undefined) return { claims };
    let pending = this.pending.get(hash);
    if (pending === undefined) {
      pending = this.verifyAfresh(token, hash).finally(() => this.pending.delete(hash));
      this.pending.set(hash, pending);
    }
    return pending;
  }

  close(): void {
    for (const issuer of this.issuers.values()) issuer.keys.close();
  }

  private async verifyAfresh(token: string, hash: string): Promise<Verification> {
    const issuer = this.issuerOf(token);
    if (issuer === undefined) return INVALID;
    try {
      const { payload } = await jwtVerify(token, issuer.keys.getKey, {
        issuer: issuer.issuer,
        audience: issuer.audience,
        algorithms: [...issuer.algorithms],
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ['exp'],
      });
      const claims = toClaims(payload, issuer);
      if (claims === undefined) return INVALID;
      const nowMs = Date.now();
      this.verified.set(hash, claims, Math.min((payload.exp ?? 0) * 1000, nowMs + MAX_CACHED_MS));
      return { claims };
    } catch (error) {
      return { failed: isAboutKeys(error) ? 'keys-unavailable' : 'invalid' };
    }
  }

  /** The unverified issuer only picks which configuration the token has to satisfy. */
  private issuerOf(token: string): Issuer | undefined {
    try {
      const { iss } = decodeJwt(token);
      return iss === undefined ? undefined : this.issuers.get(iss);
    } catch {
      // No JWT at all: nothing of ours.
      return undefined;
    }
  }
}

function toClaims(payload: JWTPayload, { claims }: JwtIssuer): Claims | undefined {
  const tenant = payload[claims.tenant];
  const user = claims.user === undefined ? undefined : payload[claims.user];
  if (typeof tenant !== 'string' || tenant === '') return undefined;
  if (user !== undefined && (typeof user !== 'string' || user === '')) return undefined;
  return { tenant, user };
}

/** Faults of the keys, apart from what is wrong with the token: its bearer is not to blame for them. */
function isAboutKeys(error: unknown): boolean {
  return error instanceof KeysUnavailableError || error instanceof errors.JWKSInvalid || !(error instanceof errors.JOSEError);
}
