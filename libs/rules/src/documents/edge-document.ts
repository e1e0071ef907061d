import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  Equals,
  IsArray,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNotEmptyObject,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { CRITICALITIES, FAILURE_MODES, type Criticality, type FailureMode } from '../model.js';
import { IsCidr, IsHttpOrigin, IsHttpUrl, IsRecordOf, LaterVersion, oneOf } from './constraints.js';

const MILLISECONDS = 'milliseconds, 1 to 3600000';
const ASYMMETRIC = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA'] as const;
const ALGORITHM = `one of ${ASYMMETRIC.join(', ')}: keys that verify must not be able to sign, so HS* and none are out`;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

export class ApiKeysOptions {
  /** The request field that carries the key. */
  @Matches(FIELD_NAME, { message: 'an HTTP field name' })
  readonly header: string = 'x-api-key';

  /** Digests of the keys, relative to the edge document. */
  @IsString({ message: 'the path of the key file' })
  @IsNotEmpty({ message: 'the path of the key file' })
  readonly file!: string;
}

export class JwksOptions {
  @IsOptional()
  @IsHttpUrl()
  readonly url?: string;

  @IsOptional()
  @IsString({ message: 'the path of a JWKS file' })
  @IsNotEmpty({ message: 'the path of a JWKS file' })
  readonly file?: string;
}

export class ClaimsOptions {
  @IsString({ message: 'the name of the claim that holds the tenant' })
  @IsNotEmpty({ message: 'the name of the claim that holds the tenant' })
  readonly tenant!: string;

  @IsOptional()
  @IsString({ message: 'the name of the claim that holds the user' })
  @IsNotEmpty({ message: 'the name of the claim that holds the user' })
  readonly user?: string;
}

export class JwtOptions {
  @IsString({ message: 'the issuer (iss)' })
  @IsNotEmpty({ message: 'the issuer (iss)' })
  readonly issuer!: string;

  @IsString({ message: 'the audience (aud)' })
  @IsNotEmpty({ message: 'the audience (aud)' })
  readonly audience!: string;

  @IsObject({ message: 'a mapping with url or file' })
  @ValidateNested()
  @Type(() => JwksOptions)
  readonly jwks!: JwksOptions;

  @IsArray({ message: ALGORITHM })
  @ArrayNotEmpty({ message: ALGORITHM })
  @IsIn(ASYMMETRIC, { each: true, message: ALGORITHM })
  readonly algorithms!: string[];

  @IsObject({ message: 'a mapping with tenant and, if wanted, user' })
  @ValidateNested()
  @Type(() => ClaimsOptions)
  readonly claims!: ClaimsOptions;
}

export class IdentityOptions {
  @IsOptional()
  @ValidateNested({ message: 'a mapping with header and file' })
  @Type(() => ApiKeysOptions)
  readonly apiKeys?: ApiKeysOptions;

  @IsOptional()
  @IsArray({ message: 'a list of issuers' })
  @ValidateNested({ each: true, message: 'a mapping with issuer, audience, jwks, algorithms and claims' })
  @Type(() => JwtOptions)
  readonly jwt?: JwtOptions[];

  /** How many leading bits of an IPv6 address make one caller. */
  @IsInt({ message: 'a prefix length, 32 to 128' })
  @Min(32, { message: 'a prefix length, 32 to 128' })
  @Max(128, { message: 'a prefix length, 32 to 128' })
  readonly ipv6Prefix: number = 64;
}

export class TimeoutsOptions {
  @IsInt({ message: MILLISECONDS })
  @Min(1, { message: MILLISECONDS })
  @Max(3_600_000, { message: MILLISECONDS })
  readonly connectMs: number = 250;

  @IsInt({ message: MILLISECONDS })
  @Min(1, { message: MILLISECONDS })
  @Max(3_600_000, { message: MILLISECONDS })
  readonly headersMs: number = 5000;

  @IsInt({ message: MILLISECONDS })
  @Min(1, { message: MILLISECONDS })
  @Max(3_600_000, { message: MILLISECONDS })
  readonly idleMs: number = 30_000;
}

export class UpstreamOptions {
  @IsHttpOrigin()
  readonly url!: string;

  @ValidateNested({ message: 'a mapping with connectMs, headersMs, idleMs' })
  @Type(() => TimeoutsOptions)
  readonly timeouts: TimeoutsOptions = new TimeoutsOptions();

  @LaterVersion('upstream concurrency limits are not supported in this version')
  readonly concurrency?: unknown;
}

export class RouteOptions {
  @Matches(/^[a-z][a-z0-9.-]*$/, { message: 'a name of a-z, 0-9, dots and dashes that starts with a letter' })
  @MaxLength(64, { message: 'a name of at most 64 characters' })
  readonly name!: string;

  @IsOptional()
  @IsArray({ message: `a list of ${METHODS.join(', ')}` })
  @ArrayNotEmpty({ message: `a list of ${METHODS.join(', ')}; leave it out for all` })
  @IsIn(METHODS, { each: true, message: oneOf(METHODS) })
  readonly methods?: string[];

  @IsString({ message: 'a path such as /orders, /orders/:id or /orders/*' })
  readonly path!: string;

  @IsString({ message: 'the name of an upstream' })
  readonly upstream!: string;

  @IsIn(CRITICALITIES, { message: oneOf(CRITICALITIES) })
  readonly criticality: Criticality = 'sheddable';

  @IsIn(FAILURE_MODES, { message: oneOf(FAILURE_MODES) })
  readonly failureMode: FailureMode = 'open';

  @IsInt({ message: 'a whole number, 1 to 1000000' })
  @Min(1, { message: 'a whole number, 1 to 1000000' })
  @Max(1_000_000, { message: 'a whole number, 1 to 1000000' })
  readonly cost: number = 1;

  @IsIn(['optional', 'required'], { message: 'optional or required' })
  readonly auth: 'optional' | 'required' = 'optional';
}

export class LocalOptions {
  @IsInt({ message: 'how many gateways share the limits, 1 to 10000' })
  @Min(1, { message: 'how many gateways share the limits, 1 to 10000' })
  @Max(10_000, { message: 'how many gateways share the limits, 1 to 10000' })
  readonly gateways!: number;
}

/** What operators deploy: `config/edge.yaml`. */
export class EdgeDocument {
  /** Set by the reader: where it stands, for errors and for paths relative to it. */
  declare file: string;

  @Equals(1, { message: '1' })
  readonly version!: 1;

  @IsArray({ message: 'a list of addresses or CIDRs' })
  @IsCidr({ each: true })
  readonly trustedProxies: string[] = [];

  @ValidateNested({ message: 'a mapping with apiKeys, jwt, ipv6Prefix' })
  @Type(() => IdentityOptions)
  readonly identity: IdentityOptions = new IdentityOptions();

  @IsNotEmptyObject({}, { message: 'a mapping of upstreams by name' })
  @IsRecordOf(() => UpstreamOptions, /^[a-z][a-z0-9-]*$/, 'a name of a-z, 0-9 and dashes that starts with a letter')
  readonly upstreams!: ReadonlyMap<string, UpstreamOptions>;

  @IsArray({ message: 'a list of routes' })
  @ArrayNotEmpty({ message: 'at least one route' })
  @ValidateNested({ each: true, message: 'a mapping with name, path, upstream' })
  @Type(() => RouteOptions)
  readonly routes!: RouteOptions[];

  @IsOptional()
  @ValidateNested({ message: 'a mapping with gateways' })
  @Type(() => LocalOptions)
  readonly local?: LocalOptions;

  @LaterVersion('load shedding is not supported in this version')
  readonly shedding?: unknown;
}
