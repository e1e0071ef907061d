import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { types } from 'node:util';
import { RareWarning } from './rare-warning.js';

const REFRESH_MS = 600_000;
const FETCH_TIMEOUT_MS = 1000;
/** Unknown key ids cause at most one fetch in this time, however many tokens name them. */
const COOLDOWN_MS = 30_000;
/** The same after a fetch that failed. */
const RETRY_MS = 1000;

/** There are no keys: the issuer's server has never answered. No fault of the token's bearer. */
export class KeysUnavailableError extends Error {
  override readonly name = 'KeysUnavailableError';
}

/**
 * An issuer's keys from its server. Known keys never lapse by themselves: while the server is away, tokens signed with them still verify. All
 * fetches go through one gate; jose's own pause begins only with a fetch that worked, so a failing server would be asked by every token.
 */
export class RemoteKeys {
  private readonly remote;
  private readonly timer: NodeJS.Timeout;
  private readonly warning: RareWarning;
  private readonly shownUrl: string;
  private fetching: Promise<boolean> | undefined;
  private nextAtMs = 0;

  constructor(url: string, log: { warn(message: string): void }) {
    const { origin, pathname, href } = new URL(url);
    this.shownUrl = origin + pathname;
    this.warning = new RareWarning(log);
    this.remote = createRemoteJWKSet(new URL(href), {
      cacheMaxAge: Infinity,
      cooldownDuration: Infinity,
      timeoutDuration: FETCH_TIMEOUT_MS,
    });
    void this.refresh();
    this.timer = setInterval(() => void this.refresh(), REFRESH_MS).unref();
  }

  readonly getKey: JWTVerifyGetKey = async (header, token) => {
    if (this.remote.jwks() === undefined && !(await this.refresh())) throw new KeysUnavailableError();
    try {
      return await this.remote(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.refresh())) throw error;
      return this.remote(header, token);
    }
  };

  close(): void {
    clearInterval(this.timer);
  }

  /** Fetches, unless that was just done. @returns whether the keys are fresh now */
  private refresh(): Promise<boolean> {
    if (this.fetching !== undefined) return this.fetching;
    if (performance.now() < this.nextAtMs) return Promise.resolve(false);
    this.fetching = this.fetch().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetch(): Promise<boolean> {
    try {
      await this.remote.reload();
      this.nextAtMs = performance.now() + COOLDOWN_MS;
      return true;
    } catch (error) {
      this.nextAtMs = performance.now() + RETRY_MS;
      const known = this.remote.jwks() === undefined ? 'there are none, tokens cannot be verified' : 'the known ones stay';
      this.warning.warn(`${this.shownUrl}: no new keys (${causeOf(error)}); ${known}`);
      return false;
    }
  }
}

/** Without the texts of fetch, which quote the URL. */
function causeOf(error: unknown): string {
  if (error instanceof errors.JOSEError) return error.message;
  const cause = types.isNativeError(error) ? (error.cause ?? error) : error;
  if (!types.isNativeError(cause)) return 'unknown fault';
  return 'code' in cause ? String(cause.code) : cause.name;
}
