import { Logger, type Type } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { compileRules, type EdgeDocument, type LimitsDocument, type Rules } from '#libs/rules';
import { BUILT_IN } from './built-in.decorator.js';
import { readOwnedHandlers, type OwnedHandler, type OwnedHandlers } from './owned-routes.js';

/** The rules in force: both documents and the decorators of the edge's own controllers. */
export class EdgeRules {
  private constructor(
    readonly current: Rules,
    private readonly handlers: OwnedHandlers,
  ) {}

  /** Compiled once, before the first request. @throws DocumentError: the process does not start. */
  static compile(edge: EdgeDocument, limits: LimitsDocument, discovery: DiscoveryService): EdgeRules {
    const controllers = discovery
      .getControllers()
      .map((wrapper) => wrapper.metatype as Type | null)
      .filter((controller): controller is Type => controller !== null && !Reflect.hasMetadata(BUILT_IN, controller));
    const handlers = readOwnedHandlers(controllers);
    const owned = [...handlers.values()].flatMap((byHandler) => [...byHandler.values()]);
    const rules = compileRules(edge, limits, owned);
    const logger = new Logger('Routes');
    for (const line of routeTable(rules)) logger.log(line);
    return new EdgeRules(rules, handlers);
  }

  ownedHandler(controller: Type, handler: object): OwnedHandler | undefined {
    return this.handlers.get(controller)?.get(handler);
  }
}

/** The effective routes, a line each, as the edge tells them when it starts. */
function routeTable(rules: Rules): string[] {
  return [...rules.routes.values()].map((route) => {
    const methods = route.methods?.join('|') ?? 'ANY';
    const target = route.upstream === undefined ? 'the edge itself' : `upstream ${route.upstream}`;
    return `${route.name}: ${methods} ${route.path} → ${target}; ${route.criticality}, failure mode ${route.failureMode}, cost ${route.cost}`;
  });
}
