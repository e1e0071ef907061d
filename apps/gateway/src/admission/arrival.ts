import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Identifier, type Identification, type RequestParts } from '#libs/identity';
import { RATE_LIMIT_ROUTE, UNMATCHED_ROUTE, type Route } from '#libs/rules';
import { EdgeRules } from '../edge/edge-rules.js';
import { targetOf } from '../edge/request-target.js';
import { traceContext, type TraceContext } from '../edge/trace.js';
import type { OwnedHandler } from '../edge/owned-routes.js';

/** A request in admission's words: which route, who asks, at what cost. `complaint` is answered once it has been charged. */
export interface Arrival {
  readonly route: Route;
  readonly identification: Identification | Promise<Identification>;
  readonly cost: number;
  readonly complaint: Complaint | undefined;
  /** A CORS preflight: it carries no credentials and needs none. */
  readonly preflight: boolean;
  /** Whether what the peer says about earlier hops is believed. */
  readonly trustedPeer: boolean;
  readonly trace: TraceContext;
}

export type Complaint =
  | { readonly kind: 'unmatched' }
  | { readonly kind: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'bad-target'; readonly detail: string }
  /** The edge's own code failed. */
  | { readonly kind: 'fault'; readonly error: unknown };

/** Reads arrivals off HTTP requests. */
@Injectable()
export class ArrivalReader {
  constructor(
    private readonly rules: EdgeRules,
    private readonly identifier: Identifier,
  ) {}

  /** At a controller of the edge's own; undefined where the handler's own decorator takes it out of admission. */
  read(context: ExecutionContext): Arrival | undefined {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const owned = this.rules.ownedHandler(context.getClass(), context.getHandler());
    if (owned !== undefined) return owned.skip === 'all' ? undefined : this.atOwned(owned, request);
    return this.byAddress(this.builtIn(RATE_LIMIT_ROUTE), request.raw);
  }

  /** A request that is to be forwarded, if a route of the edge document takes it. */
  atProxy(request: IncomingMessage): Arrival {
    const target = targetOf(request);
    if ('refused' in target) return this.byAddress(this.builtIn(UNMATCHED_ROUTE), request, { kind: 'bad-target', detail: target.refused });
    const rules = this.rules.current;
    const preflightOf = preflightMethod(request);
    const route = rules.match(preflightOf ?? request.method ?? '', target.path);
    if (route === undefined) {
      const allowed = rules.methodsAt(target.path);
      const complaint: Complaint = allowed.length === 0 ? { kind: 'unmatched' } : { kind: 'wrong-method', allowed };
      return this.byAddress(this.builtIn(UNMATCHED_ROUTE), request, complaint);
    }
    if (route.strictPath && (target.rewritten || target.path.includes(';')))
      return this.byAddress(route, request, { kind: 'bad-target', detail: 'this route takes canonical paths without parameters only' });
    // A preflight carries no credentials: it is charged to its address, never to the caller it speaks for.
    if (preflightOf !== undefined) return this.byAddress(route, request, undefined, true);
    return this.arrival(request, route, this.identifier.identify(partsOf(request)), route.cost);
  }

  private atOwned(owned: OwnedHandler, request: FastifyRequest): Arrival {
    const { route } = owned;
    let cost: number;
    try {
      cost = costOf(owned, request);
    } catch (error) {
      // Charged all the same: what a caller can make fail must not be free.
      return this.byAddress(route, request.raw, { kind: 'fault', error });
    }
    return this.arrival(request.raw, route, this.identifier.identify(partsOf(request.raw)), cost);
  }

  private byAddress(route: Route, request: IncomingMessage, complaint?: Complaint, preflight = false): Arrival {
    const identification: Identification = { kind: 'anonymous', caller: this.identifier.address(partsOf(request)) };
    return this.arrival(request, route, identification, route.cost, complaint, preflight);
  }

  private arrival(
    request: IncomingMessage,
    route: Route,
    identification: Arrival['identification'],
    cost: number,
    complaint?: Complaint,
    preflight = false,
  ): Arrival {
    const trustedPeer = this.identifier.trusts(request.socket.remoteAddress);
    const said = trustedPeer ? { requestId: request.headers['x-request-id'], traceparent: request.headers.traceparent } : undefined;
    const { sampleRatio } = this.rules.current.edge;
    const trace = traceContext(said, sampleRatio === 1 || Math.random() < sampleRatio);
    return { route, identification, cost, complaint, preflight, trustedPeer, trace };
  }

  private builtIn(name: string): Route {
    const route = this.rules.current.routes.get(name);
    if (route === undefined) throw new Error(`the built-in route ${name} is missing`);
    return route;
  }
}

function costOf(owned: OwnedHandler, request: FastifyRequest): number {
  const cost = typeof owned.costOf === 'number' ? owned.costOf : owned.costOf(request);
  if (!Number.isSafeInteger(cost) || cost < 1)
    throw new Error(`@Cost of ${owned.route.name} gave ${cost}; allowed: an integer of at least 1`);
  return cost;
}

export function partsOf(request: IncomingMessage): RequestParts {
  return { rawHeaders: request.rawHeaders, peerAddress: request.socket.remoteAddress };
}

/** The method that a CORS preflight asks for; undefined for any other request. */
function preflightMethod({ method, headers }: IncomingMessage): string | undefined {
  if (method !== 'OPTIONS' || headers.origin === undefined) return undefined;
  return headers['access-control-request-method'];
}
