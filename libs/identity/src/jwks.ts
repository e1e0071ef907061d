import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { JwtIssuer } from './identity-config.js';
import { RemoteKeys } from './remote-keys.js';
import { WatchedFile } from './watched-file.js';

/** An issuer's public keys. */
export interface KeySource {
  readonly getKey: JWTVerifyGetKey;
  close(): void;
}

/** @throws Error where a JWKS file is missing or bad; an unreachable URL is tried again later */
export function keySource(jwks: JwtIssuer['jwks'], log: { warn(message: string): void }): KeySource {
  return 'file' in jwks ? fromFile(jwks.file, log) : new RemoteKeys(jwks.url, log);
}

function fromFile(file: string, log: { warn(message: string): void }): KeySource {
  const watched = new WatchedFile({
    file,
    parse: (text) => parse(file, text),
    onBad: (problem) => {
      log.warn(`the keys stay as they were: ${problem}`);
    },
  });
  return {
    getKey: (header, token) => watched.current(header, token),
    close: () => {
      watched.close();
    },
  };
}

/** The parser's own message quotes the text, which may be a private key by mistake. */
function parse(file: string, text: string): JWTVerifyGetKey {
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  } catch {
    throw new Error(`${file}: allowed: a JSON Web Key Set, {"keys": […]}`);
  }
}
