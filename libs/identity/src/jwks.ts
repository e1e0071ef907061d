import { createLocalJWKSet, createRemoteJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { WatchedFile } from './watched-file.js';
import type { JwtIssuer } from './identity-config.js';

/** An issuer's public keys. */
export interface KeySource {
  readonly getKey: JWTVerifyGetKey;
  close(): void;
}

interface Log {
  warn(message: string): void;
}

const REFRESH_MS = 600_000;
const FETCH_TIMEOUT_MS = 1000;
/** Unknown key ids cause at most one fetch in this time, however many tokens name them. */
const COOLDOWN_MS = 30_000;

/** @throws Error where a JWKS file is missing or bad; an unreachable URL is tried again later */
export function keySource(jwks: JwtIssuer['jwks'], log: Log): KeySource {
  return 'file' in jwks ? fromFile(jwks.file, log) : fromUrl(jwks.url, log);
}

function fromFile(file: string, log: Log): KeySource {
  const watched = new WatchedFile({
    file,
    parse: (text) => createLocalJWKSet(JSON.parse(text) as JSONWebKeySet),
    onBad: (problem) => {
      log.warn(`${file}: the keys stay as they were: ${problem}`);
    },
  });
  return {
    getKey: (header, token) => watched.current(header, token),
    close: () => {
      watched.close();
    },
  };
}

/** Known keys never lapse by themselves: while the issuer's server is away, tokens signed with them still verify. */
function fromUrl(url: string, log: Log): KeySource {
  const remote = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: Infinity,
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: FETCH_TIMEOUT_MS,
  });
  const refresh = (): void => {
    remote.reload().catch((error: unknown) => {
      log.warn(`${url}: no keys: ${error instanceof Error ? error.message : String(error)}`);
    });
  };
  refresh();
  const timer = setInterval(refresh, REFRESH_MS).unref();
  return {
    getKey: (header, token) => remote(header, token),
    close: () => {
      clearInterval(timer);
    },
  };
}
