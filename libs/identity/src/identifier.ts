import { AddressReader } from './address-reader.js';
import { NO_ADDRESS } from './addresses.js';
import { MIN_PEPPER_LENGTH, apiKeyId } from './api-key.js';
import { ApiKeys } from './api-keys.js';
import type { ApiKeyEntry } from './api-key-file.js';
import type { Caller, Identification, RequestParts } from './caller.js';
import { readCredentials, type Credentials } from './credentials.js';
import type { IdentityConfig } from './identity-config.js';
import { JwtVerifier, type Verification } from './jwt-verifier.js';
import { RareWarning } from './rare-warning.js';

export interface IdentifierOptions {
  /** Keys the digests of API keys. */
  readonly pepper: string | undefined;
  readonly log: { warn(message: string): void; log(message: string): void };
}

/** Tells who is calling. Only verified credentials name a caller; everything else counts on the address. */
export class Identifier {
  private readonly addresses: AddressReader;
  private readonly warning: RareWarning;
  private addresslessRequests = 0;

  private constructor(
    private readonly config: IdentityConfig,
    private readonly keys: ApiKeys | undefined,
    private readonly tokens: JwtVerifier,
    log: IdentifierOptions['log'],
  ) {
    this.warning = new RareWarning(log);
    this.addresses = new AddressReader(config.trustedProxies, config.ipv6Prefix);
  }

  /** @throws Error that says what is missing or bad: the pepper, the key file, a JWKS file, a proxy, an issuer named twice */
  static create(config: IdentityConfig, { pepper, log }: IdentifierOptions): Identifier {
    const keys = config.apiKeys === undefined ? undefined : new ApiKeys(config.apiKeys.file, checkedPepper(pepper), log);
    try {
      return new Identifier(config, keys, new JwtVerifier(config.jwt, log), log);
    } catch (error) {
      keys?.close();
      throw error;
    }
  }

  /** Synchronous unless a token has to be verified. */
  identify(request: RequestParts): Identification | Promise<Identification> {
    const caller = this.address(request);
    const credentials = readCredentials(request.rawHeaders, this.config.apiKeys?.header, this.tokens.configured);
    if (credentials === 'conflicting') return conflicting(caller, 'A credential field is repeated with different values.');
    const { apiKey, bearer } = credentials;
    if (apiKey === undefined && bearer === undefined) return { kind: 'anonymous', caller };
    const entry = apiKey === undefined ? undefined : this.keys?.find(apiKey);
    if (bearer === undefined) return conclude(caller, credentials, entry, undefined);
    const verification = this.tokens.verify(bearer);
    if (verification instanceof Promise) return verification.then((done) => conclude(caller, credentials, entry, done));
    return conclude(caller, credentials, entry, verification);
  }

  /** The caller by address alone. */
  address(request: RequestParts): Caller {
    const ip = this.addresses.read(request);
    if (ip === NO_ADDRESS) this.noteAddressless();
    return { tenant: undefined, user: undefined, apiKey: undefined, ip };
  }

  /** Whether what this peer says about forwarding is believed. */
  trusts(peerAddress: string | undefined): boolean {
    return this.addresses.trusts(peerAddress);
  }

  close(): void {
    this.keys?.close();
    this.tokens.close();
  }

  /** How many requests had no address. */
  get addressless(): number {
    return this.addresslessRequests;
  }

  private noteAddressless(): void {
    this.addresslessRequests += 1;
    this.warning.warn('requests arrive on connections without an address (a Unix socket?); they share one bucket');
  }
}

function checkedPepper(pepper: string | undefined): string {
  if (pepper === undefined) throw new Error('API_KEY_PEPPER: missing; the edge document names a key file, whose digests it keys');
  if (pepper.length < MIN_PEPPER_LENGTH) throw new Error(`API_KEY_PEPPER: allowed: a secret of at least ${MIN_PEPPER_LENGTH} characters`);
  return pepper;
}

function conclude(
  anonymous: Caller,
  credentials: Exclude<Credentials, 'conflicting'>,
  entry: ApiKeyEntry | undefined,
  verification: Verification | undefined,
): Identification {
  const claims = verification !== undefined && 'claims' in verification ? verification.claims : undefined;
  if (entry === undefined && claims === undefined) {
    const unavailable = verification !== undefined && 'failed' in verification && verification.failed === 'keys-unavailable';
    if (unavailable)
      return {
        kind: 'rejected',
        caller: anonymous,
        reason: 'keys-unavailable',
        detail: 'The keys that verify tokens cannot be had at the moment.',
      };
    return { kind: 'rejected', caller: anonymous, reason: 'invalid-credential', detail: 'The credential was not accepted.' };
  }
  if (entry !== undefined && claims !== undefined && disagree(entry, claims)) {
    return conflicting(anonymous, 'Two credentials name different callers.');
  }
  return {
    kind: 'identified',
    caller: {
      tenant: claims?.tenant ?? entry?.tenant,
      user: claims?.user ?? entry?.user,
      apiKey: entry === undefined ? undefined : apiKeyId(entry.digest),
      ip: anonymous.ip,
    },
    credential: claims === undefined ? 'api-key' : 'jwt',
    dropAuthorization: credentials.bearer !== undefined && claims === undefined,
  };
}

function disagree(entry: ApiKeyEntry, claims: { readonly tenant: string; readonly user: string | undefined }): boolean {
  return entry.tenant !== claims.tenant || (entry.user !== undefined && claims.user !== undefined && entry.user !== claims.user);
}

function conflicting(caller: Caller, detail: string): Identification {
  return { kind: 'rejected', caller, reason: 'conflicting-credentials', detail };
}
