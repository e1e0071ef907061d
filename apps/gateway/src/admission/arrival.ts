import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Identifier, type Identification, type RequestParts } from '#libs/identity';
import { RATE_LIMIT_ROUTE, UNMATCHED_ROUTE, type Route, type Rules } from '#libs/rules';
import { BUILT_IN, type BuiltInKind } from '../edge/built-in.decorator.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { targetOf } from '../edge/request-target.js';
import type { OwnedHandler } from '../edge/owned-routes.js';

/** A request in admission's words: which route, who asks, at what cost. `complaint` is answered once it has been charged. */
export interface Arrival {
  readonly route: Route;
  readonly identification: Identification | Promise<Identification>;
  readonly cost: number;
  readonly complaint: Complaint | undefined;
}

export type Complaint = { readonly kind: 'unmatched' } | { readonly kind: 'bad-target'; readonly detail: string };

/** Reads arrivals off HTTP requests. */
@Injectable()
export class ArrivalReader {
  constructor(
    private readonly rules: EdgeRules,
    private readonly identifier: Identifier,
    private readonly reflector: Reflector,
  ) {}

  /** Undefined where the handler's own decorator takes it out of admission. */
  read(context: ExecutionContext): Arrival | undefined {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const rules = this.rules.current;
    const owned = this.rules.ownedHandler(context.getClass(), context.getHandler());
    if (owned !== undefined) return owned.skip === 'all' ? undefined : this.atOwned(owned, request);
    const builtIn = this.reflector.get<BuiltInKind | undefined>(BUILT_IN, context.getClass());
    if (builtIn === 'rate-limit') return this.byAddress(builtInRoute(rules, RATE_LIMIT_ROUTE), request);
    return this.atProxy(rules, request);
  }

  private atOwned(owned: OwnedHandler, request: FastifyRequest): Arrival {
    const cost = typeof owned.costOf === 'number' ? owned.costOf : owned.costOf(request);
    if (!Number.isSafeInteger(cost) || cost < 1)
      throw new Error(`@Cost of ${owned.route.name} gave ${cost}; allowed: an integer of at least 1`);
    return { route: owned.route, identification: this.identifier.identify(partsOf(request)), cost, complaint: undefined };
  }

  private atProxy(rules: Rules, request: FastifyRequest): Arrival {
    const target = targetOf(request.raw);
    if ('refused' in target) {
      return this.byAddress(builtInRoute(rules, UNMATCHED_ROUTE), request, { kind: 'bad-target', detail: target.refused });
    }
    const preflightOf = preflightMethod(request);
    const route = rules.match(preflightOf ?? request.method, target.path);
    if (route === undefined) return this.byAddress(builtInRoute(rules, UNMATCHED_ROUTE), request, { kind: 'unmatched' });
    // A preflight carries no credentials: it is charged to its address, never to the caller it speaks for.
    if (preflightOf !== undefined) return this.byAddress(route, request);
    return { route, identification: this.identifier.identify(partsOf(request)), cost: route.cost, complaint: undefined };
  }

  private byAddress(route: Route, request: FastifyRequest, complaint?: Complaint): Arrival {
    const caller = this.identifier.address(partsOf(request));
    return { route, identification: { kind: 'anonymous', caller }, cost: route.cost, complaint };
  }
}

function builtInRoute(rules: Rules, name: string): Route {
  const route = rules.routes.get(name);
  if (route === undefined) throw new Error(`the built-in route ${name} is missing`);
  return route;
}

export function partsOf(request: FastifyRequest): RequestParts {
  return { rawHeaders: request.raw.rawHeaders, peerAddress: request.raw.socket.remoteAddress };
}

/** The method that a CORS preflight asks for; undefined for any other request. */
export function preflightMethod(request: FastifyRequest): string | undefined {
  if (request.method !== 'OPTIONS' || request.headers.origin === undefined) return undefined;
  return request.headers['access-control-request-method'];
}
