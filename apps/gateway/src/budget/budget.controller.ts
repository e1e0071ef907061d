import { Controller, Get, Header, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Admission } from '#libs/admission';
import { Identifier, type Caller } from '#libs/identity';
import { RATE_LIMIT_ROUTE, UNMATCHED_ROUTE, type Route } from '#libs/rules';
import { partsOf } from '../admission/arrival.js';
import { rejected } from '../admission/complaints.js';
import { Refusal, plainProblem, storeUnavailable } from '../answers/problem.js';
import { BuiltIn } from '../edge/built-in.decorator.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { budgetOf, type Budget } from './budget.js';

/** What a caller has left, route by route. */
export interface BudgetReport {
  readonly caller: {
    readonly tenant?: string | undefined;
    readonly user?: string | undefined;
    readonly tier?: string | undefined;
    readonly address?: string;
  };
  readonly limitsRevision: number;
  readonly routes: readonly { readonly route: string; readonly policies: readonly Budget[] }[];
}

/** `GET /rate-limit[?route=NAME]`: a caller's budgets, without spending them. The call itself is charged to its address. */
@BuiltIn()
@Controller('rate-limit')
export class BudgetController {
  constructor(
    private readonly rules: EdgeRules,
    private readonly identifier: Identifier,
    private readonly admission: Admission,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  async report(@Req() request: FastifyRequest, @Query('route') name?: string): Promise<BudgetReport> {
    const who = await this.identifier.identify(partsOf(request.raw));
    if (who.kind === 'rejected') throw rejected(who.reason, who.detail);
    const rules = this.rules.current;
    const routes = await Promise.all(
      this.routesNamed(name).map(async (route) => ({ route: route.name, policies: await this.budgets(route, who.caller) })),
    );
    const { tenant, user, ip } = who.caller;
    return {
      caller: tenant === undefined ? { address: ip } : { tenant, user, tier: rules.tierOf(tenant) },
      limitsRevision: rules.revision,
      routes: routes.filter((route) => route.policies.length > 0),
    };
  }

  private routesNamed(name: string | undefined): readonly Route[] {
    const { routes } = this.rules.current;
    // The built-in routes are charged to addresses, whoever asks; an identified caller has no budget there.
    if (name === undefined) return [...routes.values()].filter(({ name: own }) => own !== UNMATCHED_ROUTE && own !== RATE_LIMIT_ROUTE);
    const route = routes.get(name);
    if (route === undefined) throw new Refusal(plainProblem(404, 'Not Found', 'No route has this name.'));
    return [route];
  }

  private async budgets(route: Route, caller: Caller): Promise<readonly Budget[]> {
    const verdicts = await this.admission.peek(route, caller).catch((error: unknown) => {
      throw storeUnavailable(error);
    });
    return verdicts.filter((policy) => !policy.applied.shadow).map(budgetOf);
  }
}
