import {
  BadRequestException,
  Injectable,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import getRawBody from 'raw-body';
import { EdgeRules } from './edge-rules.js';
import { askForBody, hasBody } from './unread-body.js';

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Parses the JSON body of a request to one of the edge's own controllers, after admission: a refused request costs no reading. It is a
 * guard because guards run in order, before pipes.
 */
@Injectable()
export class OwnedBodyGuard implements CanActivate {
  constructor(private readonly rules: EdgeRules) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (this.rules.ownedHandler(context.getClass(), context.getHandler()) === undefined) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!hasBody(request.raw)) return true;
    askForBody(request.raw, context.switchToHttp().getResponse<FastifyReply>().raw);
    return readJson(request).then((body) => {
      request.body = body;
      return true;
    });
  }
}

async function readJson(request: FastifyRequest): Promise<unknown> {
  const { headers } = request;
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new UnsupportedMediaTypeException('The body must be JSON (application/json).');
  const length = headers['content-length'] ?? null;
  const text = await getRawBody(request.raw, { limit: MAX_BODY_BYTES, length, encoding: 'utf8' }).catch((error: unknown) => {
    if (error instanceof Error && 'type' in error && error.type === 'entity.too.large') {
      throw new PayloadTooLargeException(`The body must be at most ${MAX_BODY_BYTES} bytes.`);
    }
    throw new BadRequestException('The body could not be read.');
  });
  const parse = request.server.getDefaultJsonParser('error', 'error');
  return new Promise((resolve, reject) => {
    void parse(request, text, (error, body) => {
      if (error === null) resolve(body);
      else reject(new BadRequestException('The body is no valid JSON.'));
    });
  });
}
