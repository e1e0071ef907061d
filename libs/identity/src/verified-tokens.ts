import type { Claims } from './jwt-verifier.js';

interface Entry {
  readonly claims: Claims;
  readonly expiresAtMs: number;
}

/**
 * What verified tokens said, by the token's hash; bounded, least recently used go first. Only verified tokens enter, so strangers cannot
 * fill it.
 */
export class VerifiedTokens {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly capacity: number) {}

  get(hash: string, nowMs: number): Claims | undefined {
    const entry = this.entries.get(hash);
    if (entry === undefined) return undefined;
    this.entries.delete(hash);
    if (entry.expiresAtMs <= nowMs) return undefined;
    this.entries.set(hash, entry);
    return entry.claims;
  }

  set(hash: string, claims: Claims, expiresAtMs: number): void {
    if (this.entries.size >= this.capacity) {
      for (const oldest of this.entries.keys()) {
        this.entries.delete(oldest);
        break;
      }
    }
    this.entries.set(hash, { claims, expiresAtMs });
  }
}
