/** Error types of Proxy-Status (RFC 9209 §2.3) that this edge tells. */
export type ProxyError =
  | 'connection_limit_reached'
  | 'connection_read_timeout'
  | 'connection_refused'
  | 'connection_terminated'
  | 'connection_timeout'
  | 'destination_ip_unroutable'
  | 'destination_not_found'
  | 'destination_unavailable'
  | 'dns_error'
  | 'dns_timeout'
  | 'http_protocol_error'
  | 'http_request_denied'
  | 'http_request_error'
  | 'http_response_header_section_size'
  | 'http_response_incomplete'
  | 'http_response_timeout'
  | 'http_response_transfer_coding'
  | 'proxy_internal_error'
  | 'proxy_internal_response'
  | 'proxy_loop_detected'
  | 'tls_certificate_error'
  | 'tls_protocol_error';

/** Why an answer is the edge's and not an upstream's. */
export interface ProxyStatus {
  readonly error: ProxyError;
  /** The upstream by its name in the edge document, never by its address. */
  readonly nextHop?: string;
}

/** What an answer's status says by itself. */
export function statusError(status: number): ProxyError {
  if (status < 500) return 'http_request_error';
  return status === 503 ? 'proxy_internal_response' : 'proxy_internal_error';
}

/** @param edge the edge's own name, a token (RFC 9651 §3.3.4) */
export function proxyStatusField(edge: string, { error, nextHop }: ProxyStatus, status: number): string {
  const code = error === 'http_request_error' ? `;status-code=${status}` : '';
  return `${edge};error=${error}${code}${nextHop === undefined ? '' : `;next-hop="${nextHop}"`}`;
}
