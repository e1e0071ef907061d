import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES } from 'node:http';
import { visitOf } from '../admission/visit.js';
import { GatewayEnv } from '../gateway.env.js';
import { exposedFields } from './cors.js';
import { Refusal, plainProblem } from './problem.js';

/** The one place where an end of a request becomes an HTTP answer: every refusal and fault is a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problem');

  constructor(private readonly env: GatewayEnv) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    this.answer(this.toRefusal(thrown), request, reply);
  }

  /** Never cacheable; readable by scripts of any origin, since a refusal tells nothing that is not the caller's own. */
  answer(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
    if (reply.sent) return;
    const fields = [...(visitOf(request)?.fields ?? []), ...refusal.fields];
    for (let i = 0; i < fields.length; i += 2) void reply.header(fields[i] as string, fields[i + 1]);
    if (request.headers.origin !== undefined) {
      void reply.header('Access-Control-Allow-Origin', '*');
      void reply.header('Access-Control-Expose-Headers', exposedFields(this.env.RATELIMIT_HEADERS));
    }
    void reply
      .code(refusal.problem.status)
      .header('Cache-Control', 'no-store')
      .header('Content-Type', 'application/problem+json')
      .send(Buffer.from(JSON.stringify(refusal.problem)));
  }

  private toRefusal(thrown: unknown): Refusal {
    if (thrown instanceof Refusal) return thrown;
    const status = statusOf(thrown);
    if (status >= 500) this.logger.error(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
    const detail = status < 500 ? told(thrown) : 'The edge failed; the fault has been logged.';
    return new Refusal(plainProblem(status, STATUS_CODES[status] ?? 'Error', detail));
  }
}

/** Nest's validation lists what is wrong beside a message that says nothing. */
function told(thrown: unknown): string {
  const response = thrown instanceof HttpException ? thrown.getResponse() : undefined;
  const { message } = typeof response === 'object' ? (response as { readonly message?: unknown }) : { message: response };
  if (Array.isArray(message)) return message.join('; ');
  return typeof message === 'string' ? message : thrown instanceof Error ? thrown.message : String(thrown);
}

/** Nest's exceptions and Fastify's errors both carry a status. */
function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = thrown instanceof Error && 'statusCode' in thrown ? Number(thrown.statusCode) : 500;
  return status >= 400 && status < 600 ? status : 500;
}
