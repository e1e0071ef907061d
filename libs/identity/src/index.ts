/** Who is calling: API keys, JWTs, addresses behind trusted proxies. */
export { partitionOfAddress } from './addresses.js';
export { MIN_PEPPER_LENGTH, apiKeyId, createApiKey, digestApiKey, looksLikeApiKey } from './api-key.js';
export { KeyFileError, type ApiKeyEntry } from './api-key-file.js';
export { appendApiKey, removeApiKey } from './change-api-keys.js';
export type { Caller, Identification, RequestParts } from './caller.js';
export { forwardedAddresses } from './forwarded.js';
export { Identifier, type IdentifierOptions } from './identifier.js';
export type { IdentityConfig, JwtIssuer } from './identity-config.js';
