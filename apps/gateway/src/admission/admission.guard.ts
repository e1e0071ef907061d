import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ArrivalReader } from './arrival.js';
import { Gate } from './gate.js';
import { visitOf, type Visit } from './visit.js';

/** Admits requests to the edge's own controllers. One request is charged once, however often this guard runs. */
@Injectable()
export class AdmissionGuard implements CanActivate {
  constructor(
    private readonly arrivals: ArrivalReader,
    private readonly gate: Gate,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (visitOf(request.raw) !== undefined) return true;
    const arrival = this.arrivals.read(context);
    if (arrival === undefined) return true;
    const visit = this.gate.admit(arrival, request.raw);
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    if (visit instanceof Promise) return visit.then((made) => tell(made, reply));
    return tell(visit, reply);
  }
}

function tell({ fields, trace }: Visit, reply: FastifyReply): true {
  void reply.header('x-request-id', trace.requestId);
  for (let i = 0; i < fields.length; i += 2) void reply.header(fields[i] as string, fields[i + 1]);
  return true;
}
