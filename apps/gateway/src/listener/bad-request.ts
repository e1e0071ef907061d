import { METHODS } from 'node:http';

/** Why a request was refused before anybody looked at what it asks for. Each closes its connection. */
export type BadRequestKind = 'expectation' | 'framing' | 'head-too-large' | 'host' | 'method' | 'syntax' | 'target' | 'timeout' | 'version';

export interface BadRequest {
  readonly kind: BadRequestKind;
  readonly status: 400 | 408 | 417 | 421 | 431 | 501 | 505;
  readonly detail: string;
}

const bad = (kind: BadRequestKind, status: BadRequest['status'], detail: string): BadRequest => ({ kind, status, detail });

/** What of a request's head is looked at. */
export interface Head {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersion: string;
  /** Name and value in turn, as sent. */
  readonly rawHeaders: readonly string[];
}

export interface HeadRules {
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /** Lower case, `*.` in front for any name below; undefined: all. */
  readonly hosts: readonly string[] | undefined;
}

const VERSIONS = 'HTTP/1.1 is spoken here.';
const SYNTAX = 'The request is not valid HTTP.';
const KNOWN_METHODS = new Set(METHODS);
/** Visible ASCII but for `#`, which begins what no request carries (RFC 3986 §3.5). */
const TARGET = /^[!"$-~]+$/;
const AUTHORITY = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * What is wrong with a head that the parser lets through. Whatever two servers could read in two ways is refused (RFC 9112 §6.1, §6.3, §11.2),
 * also where a lone server may repair it. `http2`: HTTP/2 carried it, whatever version it claims.
 */
export function badHead(head: Head, http2: boolean, { maxHeaders, maxHeaderBytes, hosts }: HeadRules): BadRequest | undefined {
  const { rawHeaders, httpVersion } = head;
  if (rawHeaders.length > 2 * maxHeaders) return bad('head-too-large', 431, `More than ${maxHeaders} header fields.`);
  // HTTP/1.1's parser has counted already.
  if (http2 && sizeOf(rawHeaders) > maxHeaderBytes)
    return bad('head-too-large', 431, `Header fields of more than ${maxHeaderBytes} bytes.`);
  if (!http2 && httpVersion !== '1.1' && httpVersion !== '1.0') return bad('version', 505, VERSIONS);
  let host: string | undefined;
  let authority: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    if (is(name, 'host')) {
      if (host !== undefined) return bad('host', 400, 'More than one Host field.');
      host = value;
    } else if (is(name, 'transfer-encoding')) {
      const problem = badCoding(value, httpVersion);
      if (problem !== undefined) return problem;
    } else if (name === ':authority') authority = value;
  }
  // HTTP/2 has a field of its own for it, and both must say the same (RFC 9113 §8.3.1).
  if (authority !== undefined && host !== undefined && authority !== host) return bad('host', 400, 'Host differs from :authority.');
  return badMethod(head.method) ?? badTarget(head) ?? badHost(authority ?? host, httpVersion, hosts);
}

function sizeOf(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, 0);
}

/** Chunked alone; any other coding would have to be undone here before anyone could tell where the request ends (RFC 9112 §6.1). */
function badCoding(value: string, httpVersion: string): BadRequest | undefined {
  if (httpVersion !== '1.1') return bad('framing', 400, `Transfer-Encoding is not part of HTTP/${httpVersion}.`);
  if (value.toLowerCase() !== 'chunked') return bad('framing', 501, 'The only transfer coding taken here is chunked.');
  return undefined;
}

/** TRACE would show the caller the fields that the edge adds; CONNECT is for forward proxies. */
function badMethod(method: string | undefined): BadRequest | undefined {
  if (method === 'TRACE' || method === 'CONNECT') return bad('method', 501, `${method} is not taken here.`);
  // HTTP/1.1's parser knows no others; HTTP/2 takes any.
  if (method === undefined || !KNOWN_METHODS.has(method)) return bad('method', 501, 'This method is not known here.');
  return undefined;
}

/** Absolute and authority form speak to a forward proxy (RFC 9112 §3.2), and name a host beside Host. */
function badTarget({ url = '', method }: Head): BadRequest | undefined {
  if (url.startsWith('/') ? TARGET.test(url) : url === '*' && method === 'OPTIONS') return undefined;
  return bad('target', 400, 'The request target must be a path of visible ASCII characters, without a fragment.');
}

function badHost(host: string | undefined, httpVersion: string, hosts: readonly string[] | undefined): BadRequest | undefined {
  if (host === undefined) return httpVersion === '1.0' && hosts === undefined ? undefined : bad('host', 400, 'A Host field is missing.');
  if (!AUTHORITY.test(host) || Number(/:(\d+)$/.exec(host)?.[1] ?? 0) > 65_535) return bad('host', 400, 'The Host field is malformed.');
  if (hosts === undefined) return undefined;
  const name = host.toLowerCase().replace(/:\d+$/, '');
  const known = hosts.some((one) => (one.startsWith('*.') ? name.endsWith(one.slice(1)) : name === one));
  return known ? undefined : bad('host', 421, 'This edge does not answer for that host.');
}

function is(name: string, lower: string): boolean {
  return name.length === lower.length && name.toLowerCase() === lower;
}

export interface ParserError {
  readonly code?: string;
  readonly reason?: string;
}

/** What an error of Node's parser means (codes of llhttp); undefined where nobody is left to be told. */
export function badByParser({ code, reason }: ParserError): BadRequest | undefined {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return bad('head-too-large', 431, 'The request line and header fields are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return bad('timeout', 408, 'The request did not arrive in time.');
    case 'HPE_INVALID_METHOD':
      return bad('method', 501, 'This method is not known here.');
    case 'HPE_INVALID_VERSION':
      return reason === 'Invalid HTTP version' ? bad('version', 505, VERSIONS) : bad('syntax', 400, SYNTAX);
    case 'HPE_PAUSED_H2_UPGRADE':
      return bad('version', 505, VERSIONS);
    case 'HPE_INVALID_URL':
      return bad('target', 400, 'The request target must be a path.');
    case 'HPE_INVALID_TRANSFER_ENCODING':
    case 'HPE_INVALID_CONTENT_LENGTH':
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
    case 'HPE_INVALID_CHUNK_SIZE':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return bad('framing', 400, 'The length of the request cannot be told.');
    case undefined:
      return undefined;
    default:
      return code.startsWith('HPE_') ? bad('syntax', 400, SYNTAX) : undefined;
  }
}
