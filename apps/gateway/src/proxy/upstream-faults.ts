import type { ProxyError } from '../answers/proxy-status.js';
import { Refusal, plainProblem } from '../answers/problem.js';

/** Why an upstream gave no whole answer. */
export class UpstreamFault extends Error {
  constructor(
    readonly error: ProxyError,
    /** The request cannot have reached the upstream. */
    readonly unsent = false,
  ) {
    super(error);
  }
}

interface Telling {
  readonly status: 408 | 500 | 502 | 503 | 504;
  readonly detail: string;
  /** Whether coming back soon may help. */
  readonly passing: boolean;
}

/** One line for each way to fail (statuses as RFC 9209 §2.3 recommends them). No detail names an address. */
const TELLINGS: Partial<Record<ProxyError, Telling>> = {
  connection_timeout: { status: 504, detail: 'The upstream did not accept the connection in time.', passing: true },
  connection_refused: { status: 502, detail: 'The upstream refuses connections.', passing: true },
  connection_terminated: { status: 502, detail: 'The upstream broke off before answering.', passing: true },
  connection_limit_reached: { status: 503, detail: 'Too many requests wait for this upstream.', passing: true },
  destination_unavailable: { status: 503, detail: 'The upstream is out of service for the moment.', passing: true },
  destination_ip_unroutable: { status: 502, detail: 'The upstream cannot be reached.', passing: true },
  dns_error: { status: 502, detail: 'The name of the upstream cannot be resolved.', passing: true },
  dns_timeout: { status: 504, detail: 'The name of the upstream was not resolved in time.', passing: true },
  http_response_timeout: { status: 504, detail: 'The upstream did not answer in time.', passing: false },
  connection_read_timeout: { status: 504, detail: 'The upstream stopped in the middle of its answer.', passing: false },
  http_protocol_error: { status: 502, detail: 'The upstream did not answer in valid HTTP.', passing: false },
  http_response_header_section_size: { status: 502, detail: 'The head of the upstream’s answer is too large.', passing: false },
  http_response_transfer_coding: {
    status: 502,
    detail: 'The upstream’s answer is in a transfer coding that is not known here.',
    passing: false,
  },
  http_response_incomplete: { status: 502, detail: 'The upstream’s answer is incomplete.', passing: false },
  tls_certificate_error: { status: 502, detail: 'The certificate of the upstream is not accepted.', passing: false },
  tls_protocol_error: { status: 502, detail: 'The upstream does not speak TLS as it should.', passing: false },
  proxy_loop_detected: {
    status: 502,
    detail: 'The request has passed this edge before; edges in a row need names of their own.',
    passing: false,
  },
  http_request_error: { status: 408, detail: 'The body of the request stopped coming.', passing: false },
};

const TITLES = {
  408: 'Request Timeout',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** The answer to a caller whose request met this fault. */
export function faultAnswer({ error }: UpstreamFault, upstream: string): Refusal {
  const { status, detail, passing } = TELLINGS[error] ?? {
    status: 500,
    detail: 'The edge failed; the fault has been logged.',
    passing: false,
  };
  return new Refusal(plainProblem(status, TITLES[status], detail), passing ? ['Retry-After', '1'] : [], { error, nextHop: upstream });
}

const BY_CODE: Readonly<Record<string, UpstreamFault>> = {
  UND_ERR_CONNECT_TIMEOUT: new UpstreamFault('connection_timeout', true),
  ETIMEDOUT: new UpstreamFault('connection_timeout', true),
  ECONNREFUSED: new UpstreamFault('connection_refused', true),
  EHOSTUNREACH: new UpstreamFault('destination_ip_unroutable', true),
  ENETUNREACH: new UpstreamFault('destination_ip_unroutable', true),
  ENOTFOUND: new UpstreamFault('dns_error', true),
  EAI_AGAIN: new UpstreamFault('dns_timeout', true),
  ECONNRESET: new UpstreamFault('connection_terminated'),
  EPIPE: new UpstreamFault('connection_terminated'),
  UND_ERR_SOCKET: new UpstreamFault('connection_terminated'),
  // What undici takes for impossible.
  ERR_ASSERTION: new UpstreamFault('http_protocol_error'),
  ERR_INVALID_CHAR: new UpstreamFault('http_protocol_error'),
  ERR_HTTP_INVALID_STATUS_CODE: new UpstreamFault('http_protocol_error'),
  ERR_INVALID_HTTP_TOKEN: new UpstreamFault('http_protocol_error'),
  UND_ERR_HEADERS_TIMEOUT: new UpstreamFault('http_response_timeout'),
  UND_ERR_BODY_TIMEOUT: new UpstreamFault('connection_read_timeout'),
  UND_ERR_HEADERS_OVERFLOW: new UpstreamFault('http_response_header_section_size'),
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: new UpstreamFault('http_response_incomplete'),
};

/** What an error of the upstream call means. `unsent` where the request cannot have left: another attempt repeats nothing. */
export function faultOf(error: unknown): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  // Read by shape: errors of Node's own and of other realms are no instances of our Error.
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const known = typeof code === 'string' ? code : '';
  const fault = BY_CODE[known];
  if (fault !== undefined) return fault;
  if (known.startsWith('HPE_') || name === 'HTTPParserError') return new UpstreamFault('http_protocol_error');
  if (known.startsWith('ERR_TLS_CERT') || CERTIFICATE.test(known)) return new UpstreamFault('tls_certificate_error', true);
  if (known.startsWith('ERR_SSL') || known.startsWith('ERR_TLS') || known === 'EPROTO')
    return new UpstreamFault('tls_protocol_error', true);
  return new UpstreamFault('proxy_internal_error');
}

/** OpenSSL's verification results as Node names them. */
const CERTIFICATE = /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE)/;
