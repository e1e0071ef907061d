import { Type } from 'class-transformer';
import { ArrayNotEmpty, IsArray, IsIn, IsNotEmpty, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';
import { IsHttpOrigin, IsShare, LaterVersion, WholeNumber, oneOf } from './constraints.js';

const HOUR_MS = 3_600_000;
/** TLS names no addresses (RFC 6066 §3): what ends in a number is one. */
const SERVER_NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*(?!\d+$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const FORWARDED_HOSTS = ['upstream', 'caller'] as const;
export type ForwardedHost = (typeof FORWARDED_HOSTS)[number];

export class TimeoutsOptions {
  /** For a connection, name resolution and TLS included. */
  @WholeNumber(1, HOUR_MS, 'milliseconds')
  readonly connectMs: number = 250;

  /** From the whole request to the response head. */
  @WholeNumber(1, HOUR_MS, 'milliseconds')
  readonly headersMs: number = 5000;

  /** Between pieces of the response body. */
  @WholeNumber(1, HOUR_MS, 'milliseconds')
  readonly idleMs: number = 30_000;

  /** Without a byte in either direction of an upgraded connection. */
  @WholeNumber(1, 24 * HOUR_MS, 'milliseconds')
  readonly upgradeIdleMs: number = 300_000;
}

/** How a `https` upstream is spoken to; its certificate is always verified. */
export class UpstreamTlsOptions {
  /** Certificates of the authorities that are believed, instead of the system's. */
  @IsOptional()
  @IsString({ message: 'the path of a PEM file' })
  @IsNotEmpty({ message: 'the path of a PEM file' })
  readonly caFile?: string;

  /** Our own certificate, where the upstream asks for one. */
  @IsOptional()
  @IsString({ message: 'the path of a PEM file' })
  @IsNotEmpty({ message: 'the path of a PEM file' })
  readonly certFile?: string;

  @IsOptional()
  @IsString({ message: 'the path of a PEM file' })
  @IsNotEmpty({ message: 'the path of a PEM file' })
  readonly keyFile?: string;

  /** The name in the certificate where it is not the host of the URL. */
  @IsOptional()
  @Matches(SERVER_NAME, { message: 'a host name such as orders.example, without a port; no address' })
  readonly serverName?: string;
}

export class RetriesOptions {
  /** Further attempts after the first. */
  @WholeNumber(0, 5)
  readonly attempts: number = 1;

  /** Retries per request, over time. */
  @IsShare('a share of requests')
  readonly budget: number = 0.1;
}

export class UpstreamOptions {
  @IsOptional()
  @IsHttpOrigin()
  readonly url?: string;

  /** Several addresses of one upstream, used in turn as far as they are healthy. */
  @IsOptional()
  @IsArray({ message: 'a list of URLs' })
  @ArrayNotEmpty({ message: 'at least one URL' })
  @IsHttpOrigin({ each: true })
  readonly urls?: string[];

  @ValidateNested({ message: 'a mapping with connectMs, headersMs, idleMs, upgradeIdleMs' })
  @Type(() => TimeoutsOptions)
  readonly timeouts: TimeoutsOptions = new TimeoutsOptions();

  /** Sockets to each address. */
  @WholeNumber(1, 65_535)
  readonly connections: number = 256;

  /** Requests that may wait for a socket of one address; more are refused with 503. */
  @WholeNumber(0, 1_000_000)
  readonly queue: number = 1024;

  /** Which Host the upstream sees: its own, or the one that the caller asked for. */
  @IsIn(FORWARDED_HOSTS, { message: oneOf(FORWARDED_HOSTS) })
  readonly host: ForwardedHost = 'upstream';

  @ValidateNested({ message: 'a mapping with attempts and budget' })
  @Type(() => RetriesOptions)
  readonly retries: RetriesOptions = new RetriesOptions();

  @IsOptional()
  @ValidateNested({ message: 'a mapping with caFile, certFile, keyFile, serverName' })
  @Type(() => UpstreamTlsOptions)
  readonly tls?: UpstreamTlsOptions;

  @LaterVersion('upstream concurrency limits are not supported in this version')
  readonly concurrency?: unknown;
}
