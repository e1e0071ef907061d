import { createHash } from 'node:crypto';
import type { PartitionName, Subject } from './model.js';

const SAFE = /^[A-Za-z0-9._~-]{1,64}$/;
const MAX_ENCODED = 64;

/**
 * A value as part of a Redis key: percent-encoded outside `[A-Za-z0-9._~-]`; beyond 64 bytes `=` and a hash. Injective: no two
 * values share a form (but for a collision of SHA-256), and no value can leave its place in the key.
 */
export function encodeKeyValue(value: string): string {
  if (SAFE.test(value)) return value;
  if (!isWellFormed(value)) return hashed(Buffer.concat([Buffer.from([0xff]), Buffer.from(value, 'utf16le')]));
  const encoded = encodeURIComponent(value).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return encoded.length <= MAX_ENCODED ? encoded : hashed(Buffer.from(value, 'utf8'));
}

/** 0xff starts no UTF-8 text, so texts with lone surrogates have hashes of their own. */
function hashed(bytes: Buffer): string {
  return `=${createHash('sha256').update(bytes).digest('base64url')}`;
}

function isWellFormed(value: string): boolean {
  return !/\p{Surrogate}/u.test(value);
}

/** What a limit is for, in the words of its selector. */
interface Selection {
  readonly tenant?: string | undefined;
  readonly tier?: string | undefined;
  readonly route?: string | undefined;
}

/**
 * The part of a key that is a limit's own. One bucket has one limit: where a selector tells apart what the policy counts together (a limit for a
 * route of a policy per tenant, a limit for a tier of a policy per route), what the limit is for is counted apart too.
 */
export function selectionSuffix(per: readonly PartitionName[], { tenant, tier, route }: Selection): string {
  const byTenant = countsIdentities(per);
  let suffix = '';
  if (tenant !== undefined && !byTenant) suffix += `:tenant:${encodeKeyValue(tenant)}`;
  // A tenant has one tier.
  if (tier !== undefined && !byTenant) suffix += `:tier:${encodeKeyValue(tier)}`;
  if (route !== undefined && !per.includes('route')) suffix += `:route:${encodeKeyValue(route)}`;
  return suffix;
}

function countsIdentities(per: readonly PartitionName[]): boolean {
  return per.includes('tenant') || per.includes('user') || per.includes('apiKey');
}

/**
 * The key of a policy's state for a caller: `rl1:{<principal>}:<policy>[:<dimension>:<value>…]`. The principal is the hash tag, so
 * all of a tenant's policies share a slot. What a caller lacks falls back: user to API key, API key to tenant, tenant to address.
 */
export function partitionKey(policy: string, per: readonly PartitionName[], subject: Subject, route: string): string {
  const byIdentity = countsIdentities(per);
  const { tenant, user, apiKey, ip } = subject;
  let key: string;
  let addressed = false;
  let routed = false;
  if (byIdentity && tenant !== undefined) {
    key = `rl1:{tenant:${encodeKeyValue(tenant)}}:${policy}`;
    if (per.includes('user') && user !== undefined) key += `:user:${encodeKeyValue(user)}`;
    if (apiKey !== undefined && (per.includes('apiKey') || (per.includes('user') && user === undefined))) {
      key += `:apiKey:${encodeKeyValue(apiKey)}`;
    }
  } else if (byIdentity || per.includes('ip')) {
    key = `rl1:{ip:${encodeKeyValue(ip)}}:${policy}`;
    addressed = true;
  } else if (per.includes('route')) {
    key = `rl1:{route:${encodeKeyValue(route)}}:${policy}`;
    routed = true;
  } else {
    key = `rl1:{global}:${policy}`;
  }
  if (per.includes('ip') && !addressed) key += `:ip:${encodeKeyValue(ip)}`;
  if (per.includes('route') && !routed) key += `:route:${encodeKeyValue(route)}`;
  return key;
}
