import { Type } from 'class-transformer';
import { ArrayNotEmpty, IsArray, IsBoolean, IsNotEmpty, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';
import { IsShare, WholeNumber } from './constraints.js';

const HOUR_MS = 3_600_000;
const HOST = 'a host such as api.example, *.example or [::1], in lower case and without a port';
const HOSTS = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$|^\[[0-9a-f:.]+\]$/;

export class ListenerTlsOptions {
  @IsString({ message: 'the path of a PEM file' })
  @IsNotEmpty({ message: 'the path of a PEM file' })
  readonly certFile!: string;

  @IsString({ message: 'the path of a PEM file' })
  @IsNotEmpty({ message: 'the path of a PEM file' })
  readonly keyFile!: string;

  /** HTTP/2 for callers that ask for it (ALPN); HTTP/1.1 for the others. */
  @IsBoolean({ message: 'true or false' })
  readonly http2: boolean = false;
}

/** How callers may speak to the edge, and how long they may take. */
export class ListenerOptions {
  @IsOptional()
  @ValidateNested({ message: 'a mapping with certFile, keyFile, http2' })
  @Type(() => ListenerTlsOptions)
  readonly tls?: ListenerTlsOptions;

  /** The hosts that the edge answers for; all where it is left out. */
  @IsOptional()
  @IsArray({ message: `a list, each of it ${HOST}` })
  @ArrayNotEmpty({ message: `at least one: ${HOST}; leave it out for all` })
  @Matches(HOSTS, { each: true, message: HOST })
  readonly hosts?: string[];

  /** From a connection, or from the end of a request before, to the end of a request's head. */
  @WholeNumber(1, HOUR_MS, 'milliseconds')
  readonly headersMs: number = 10_000;

  /** For a whole request, its body included. */
  @WholeNumber(1, 24 * HOUR_MS, 'milliseconds')
  readonly requestMs: number = 300_000;

  /** Between pieces of a request's body. */
  @WholeNumber(1, HOUR_MS, 'milliseconds')
  readonly bodyIdleMs: number = 30_000;

  /** For a connection without a request. */
  @WholeNumber(1, HOUR_MS, 'milliseconds')
  readonly keepAliveMs: number = 65_000;

  /** Of a request's line and fields together. */
  @WholeNumber(1024, 1_048_576, 'bytes')
  readonly maxHeaderBytes: number = 16_384;

  /** Fields of a request. */
  @WholeNumber(10, 2000)
  readonly maxHeaders: number = 100;

  /** Open connections; further ones are closed at once. */
  @WholeNumber(1, 1_000_000)
  readonly maxConnections: number = 10_000;
}

export class TracingOptions {
  /** Share of the traces that start here and are marked as sampled. */
  @IsShare('a share of traces')
  readonly sampleRatio: number = 1;
}
