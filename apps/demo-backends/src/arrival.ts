import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';

/** What reached the backend, repeated in each answer so that one can see what the edge passes on. */
export interface Arrival {
  readonly method: string;
  /** Path and query as they arrived. */
  readonly path: string;
  readonly bodyBytes: number;
  readonly requestId?: string;
  readonly forwardedFor?: string;
}

export function arrivalOf(request: FastifyRequest): Arrival {
  const requestId = headerOf(request, 'x-request-id');
  const forwardedFor = headerOf(request, 'x-forwarded-for');
  return {
    method: request.method,
    path: request.originalUrl,
    bodyBytes: typeof request.body === 'number' ? request.body : 0,
    ...(requestId !== undefined && { requestId }),
    ...(forwardedFor !== undefined && { forwardedFor }),
  };
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Body parser for every content type: reads the body to its end and leaves its length. */
export async function countBody(_request: unknown, payload: Readable): Promise<number> {
  let bytes = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) bytes += chunk.length;
  return bytes;
}
