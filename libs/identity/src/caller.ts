/** What identity needs of a request. */
export interface RequestParts {
  /** Name and value in turn, as sent: repeated fields are seen as such. */
  readonly rawHeaders: readonly string[];
  /** The socket's; undefined where it has none. */
  readonly peerAddress: string | undefined;
}

/** Who asks, as far as it was verified. Without a tenant: an anonymous caller at an address. */
export interface Caller {
  readonly tenant: string | undefined;
  readonly user: string | undefined;
  /** The key's id, never the key. */
  readonly apiKey: string | undefined;
  /** In partition form: IPv4, an IPv6 prefix such as `2001:db8:1:2::/64`, or `unknown`. */
  readonly ip: string;
}

export type Identification =
  | {
      readonly kind: 'identified';
      readonly caller: Caller;
      /** What named the caller; where both did and agree, the token. */
      readonly credential: 'api-key' | 'jwt';
      /** A bearer token came along that was not verified: the upstream must not see it. */
      readonly dropAuthorization: boolean;
    }
  | { readonly kind: 'anonymous'; readonly caller: Caller }
  | {
      readonly kind: 'rejected';
      /** Anonymous, by address. */
      readonly caller: Caller;
      readonly reason: 'invalid-credential' | 'conflicting-credentials' | 'keys-unavailable';
      /** May be shown: names no credential. */
      readonly detail: string;
    };
