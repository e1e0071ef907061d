import { Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { Admission, type Decision } from '#libs/admission';
import type { Identification } from '#libs/identity';
import { refusalOf } from '../answers/problem.js';
import { rateLimitFields } from '../answers/rate-limit-fields.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { GatewayEnv } from '../gateway.env.js';
import { DecisionObserver } from '../telemetry/decision-observer.js';
import type { Arrival } from './arrival.js';
import { complain } from './complaints.js';
import { rememberVisit, type Visit } from './visit.js';

/** Every request passes here, exactly once: plain ones by the guard, upgrades by their handler. */
@Injectable()
export class Gate {
  constructor(
    private readonly admission: Admission,
    private readonly observer: DecisionObserver,
    private readonly rules: EdgeRules,
    private readonly env: GatewayEnv,
  ) {}

  /**
   * Decides, tells whoever observes, and leaves the visit at the request; a promise where identity or the store need one.
   * @throws Refusal where the request ends here
   */
  admit(arrival: Arrival, request: IncomingMessage): Visit | Promise<Visit> {
    const arrivedAtMs = performance.now();
    const { identification } = arrival;
    if (identification instanceof Promise) return identification.then((who) => this.decide(arrival, who, request, arrivedAtMs));
    return this.decide(arrival, identification, request, arrivedAtMs);
  }

  private decide(arrival: Arrival, who: Identification, request: IncomingMessage, arrivedAtMs: number): Visit | Promise<Visit> {
    const decision = this.admission.admit({ route: arrival.route, subject: who.caller, cost: arrival.cost });
    if (decision instanceof Promise) return decision.then((made) => this.conclude(made, arrival, who, request, arrivedAtMs));
    return this.conclude(decision, arrival, who, request, arrivedAtMs);
  }

  private conclude(decision: Decision, arrival: Arrival, who: Identification, request: IncomingMessage, arrivedAtMs: number): Visit {
    this.observer.observe(decision, (performance.now() - arrivedAtMs) / 1000);
    const { tenant } = who.caller;
    const visit: Visit = {
      decision,
      tier: tenant === undefined ? undefined : this.rules.current.tierOf(tenant),
      fields: rateLimitFields(decision, this.env.RATELIMIT_HEADERS),
      dropAuthorization: who.kind === 'identified' && who.dropAuthorization,
      trustedPeer: arrival.trustedPeer,
      trace: arrival.trace,
      arrivedAtMs,
    };
    rememberVisit(request, visit);
    if (decision.outcome !== 'allowed') throw refusalOf(decision);
    const complaint = complain(arrival, who);
    if (complaint !== undefined) throw complaint;
    return visit;
  }
}
