import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admission, type Decision } from '#libs/admission';
import type { Identification } from '#libs/identity';
import { refusalOf } from '../answers/problem.js';
import { rateLimitFields } from '../answers/rate-limit-fields.js';
import { GatewayEnv } from '../gateway.env.js';
import { DecisionObserver } from '../telemetry/decision-observer.js';
import { ArrivalReader, preflightMethod, type Arrival } from './arrival.js';
import { complain } from './complaints.js';
import { rememberVisit, visitOf } from './visit.js';

/** Translates a request in, asks admission, translates the decision out. One request is charged once, however often this guard runs. */
@Injectable()
export class AdmissionGuard implements CanActivate {
  constructor(
    private readonly arrivals: ArrivalReader,
    private readonly admission: Admission,
    private readonly observer: DecisionObserver,
    private readonly env: GatewayEnv,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (visitOf(request) !== undefined) return true;
    const startedAtMs = performance.now();
    const arrival = this.arrivals.read(context);
    if (arrival === undefined) return true;
    const { identification } = arrival;
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    if (identification instanceof Promise) {
      return identification.then((known) => this.decide(arrival, known, request, reply, startedAtMs));
    }
    return this.decide(arrival, identification, request, reply, startedAtMs);
  }

  private decide(
    arrival: Arrival,
    who: Identification,
    request: FastifyRequest,
    reply: FastifyReply,
    startedAtMs: number,
  ): true | Promise<true> {
    const decision = this.admission.admit({ route: arrival.route, subject: who.caller, cost: arrival.cost });
    if (decision instanceof Promise) return decision.then((made) => this.conclude(made, arrival, who, request, reply, startedAtMs));
    return this.conclude(decision, arrival, who, request, reply, startedAtMs);
  }

  /** Tells the verdict to whoever answers; throws the answer itself where the request ends here. */
  private conclude(
    decision: Decision,
    arrival: Arrival,
    who: Identification,
    request: FastifyRequest,
    reply: FastifyReply,
    startedAtMs: number,
  ): true {
    this.observer.observe(decision, (performance.now() - startedAtMs) / 1000);
    const fields = rateLimitFields(decision, this.env.RATELIMIT_HEADERS);
    rememberVisit(request, { decision, fields, dropAuthorization: who.kind === 'identified' && who.dropAuthorization });
    if (arrival.route.upstream === undefined) {
      for (let i = 0; i < fields.length; i += 2) void reply.header(fields[i] as string, fields[i + 1]);
    }
    if (decision.outcome !== 'allowed') throw refusalOf(decision);
    const complaint = complain(arrival, who, preflightMethod(request) !== undefined);
    if (complaint !== undefined) throw complaint;
    return true;
  }
}
