import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  Equals,
  IsArray,
  IsBoolean,
  IsIn,
  IsNotEmptyObject,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { CRITICALITIES, FAILURE_MODES, METHODS, type Criticality, type FailureMode } from '../model.js';
import { IsCidr, IsRecordOf, LaterVersion, WholeNumber, oneOf } from './constraints.js';
import { IdentityOptions } from './identity-options.js';
import { ListenerOptions, TracingOptions } from './listener-options.js';
import { UpstreamOptions } from './upstream-options.js';

const UPGRADE = 'a protocol in lower case such as websocket; not h2c, TLS or HTTP, whose requests would pass by admission';
const UPGRADES = 'a list of protocols such as websocket; leave it out for none';

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

  @WholeNumber(1, 1_000_000)
  readonly cost: number = 1;

  @IsIn(['optional', 'required'], { message: 'optional or required' })
  readonly auth: 'optional' | 'required' = 'optional';

  /** From the arrival of a request to the end of its answer; the upstream is told what is left of it. */
  @IsOptional()
  @WholeNumber(1, 3_600_000, 'milliseconds')
  readonly deadlineMs?: number;

  /** Protocols that a connection may be handed over to, by their names in the Upgrade field. */
  @IsOptional()
  @IsArray({ message: UPGRADES })
  @ArrayNotEmpty({ message: UPGRADES })
  @Matches(/^(?!h2c?$|tls|http)[a-z][a-z0-9.-]*$/, { each: true, message: UPGRADE })
  readonly upgrades?: string[];

  /** Refuses paths that are not written canonically, or that carry parameters (`;`), instead of forwarding their canonical form. */
  @IsBoolean({ message: 'true or false' })
  readonly strictPath: boolean = false;
}

export class LocalOptions {
  @WholeNumber(1, 10_000, 'how many gateways share the limits')
  readonly gateways!: number;
}

/** What operators deploy: `config/edge.yaml`. */
export class EdgeDocument {
  /** Set by the reader: where it stands, for errors and for paths relative to it. */
  declare file: string;

  @Equals(1, { message: '1' })
  readonly version!: 1;

  /** What the edge is called in Via, Forwarded and Proxy-Status; edges in a row need names of their own. */
  @Matches(/^[A-Za-z][A-Za-z0-9._-]{0,63}$/, { message: 'a name of at most 64 of A-Z a-z 0-9 . _ - that starts with a letter' })
  readonly name: string = 'esclusa';

  @ValidateNested({ message: 'a mapping with tls, hosts, headersMs, requestMs and so on' })
  @Type(() => ListenerOptions)
  readonly listener: ListenerOptions = new ListenerOptions();

  @ValidateNested({ message: 'a mapping with sampleRatio' })
  @Type(() => TracingOptions)
  readonly tracing: TracingOptions = new TracingOptions();

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
