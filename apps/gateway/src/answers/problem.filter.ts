import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { visitOf } from '../admission/visit.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { GatewayEnv } from '../gateway.env.js';
import { answerOf } from './answer.js';
import { Refusal, plainProblem } from './problem.js';
import { sendAnswer } from './send-answer.js';

/** The one place where an end of a request becomes an HTTP answer: every refusal and fault is a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problem');

  constructor(
    private readonly env: GatewayEnv,
    private readonly rules: EdgeRules,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent) return;
    reply.hijack();
    this.answer(thrown, request.raw, reply.raw);
  }

  /** Also for requests that no controller sees. */
  answer(thrown: unknown, request: IncomingMessage, response: ServerResponse): void {
    const refusal = this.toRefusal(thrown);
    const visit = visitOf(request);
    const { head, body } = answerOf(refusal, {
      edge: this.rules.current.edge.name,
      dialect: this.env.RATELIMIT_HEADERS,
      budget: visit?.fields ?? [],
      requestId: visit?.trace.requestId,
      crossOrigin: request.headers.origin !== undefined,
    });
    sendAnswer(request, response, refusal.problem.status, head, body);
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
