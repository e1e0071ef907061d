import { randomUUID } from 'node:crypto';

/** How one request is told from others, here and behind us. */
export interface TraceContext {
  readonly requestId: string;
  /** Starts a trace; undefined where the peer's own is passed through (W3C Trace Context §3.2). */
  readonly traceparent: string | undefined;
}

/** What goes into logs and fields of others: nothing that needs quoting anywhere, and not much of it. */
const REQUEST_ID = /^[A-Za-z0-9._:+/=@-]{1,128}$/;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-|$)/;

/**
 * Request id and trace of a request. A trusted peer's are kept where they are well-formed; at the trust boundary both start afresh, from the same
 * random number, so that logs and traces find each other.
 * @param said what the peer sent; undefined from peers that are not trusted
 * @param sampled whether a trace that starts here is to be recorded
 */
export function traceContext(
  said: { readonly requestId: unknown; readonly traceparent: unknown } | undefined,
  sampled: boolean,
): TraceContext {
  const made = randomUUID();
  const kept = typeof said?.requestId === 'string' && REQUEST_ID.test(said.requestId) ? said.requestId : undefined;
  const continued = typeof said?.traceparent === 'string' && TRACEPARENT.test(said.traceparent);
  return { requestId: kept ?? made, traceparent: continued ? undefined : startTrace(made, sampled) };
}

function startTrace(uuid: string, sampled: boolean): string {
  const span = randomUUID();
  return `00-${uuid.replaceAll('-', '')}-${span.slice(0, 8)}${span.slice(28)}-${sampled ? '01' : '00'}`;
}
