import { BadRequestException, Controller, Delete, Get, NotFoundException, Query, UseGuards } from '@nestjs/common';
import { Admission, type PolicyVerdict } from '#libs/admission';
import { partitionOfAddress } from '#libs/identity';
import type { Route, Subject } from '#libs/rules';
import { storeUnavailable } from '../answers/problem.js';
import { budgetOf, type Budget } from '../budget/budget.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { AdminTokenGuard } from './admin-token.guard.js';
import { CallerQuery } from './caller.query.js';

interface KeyReport extends Budget {
  readonly key: string;
  readonly selector: string;
  readonly shadow: boolean;
}

/** `GET /keys?route=search&tenant=acme` shows a caller's buckets; `DELETE` with the same query (and `policy=`) refills them. */
@UseGuards(AdminTokenGuard)
@Controller('keys')
export class KeysController {
  constructor(
    private readonly rules: EdgeRules,
    private readonly admission: Admission,
  ) {}

  @Get()
  async inspect(@Query() query: CallerQuery): Promise<{ readonly keys: readonly KeyReport[] }> {
    const verdicts = await this.admission.peek(this.route(query), this.subject(query)).catch(unavailable);
    if (query.policy !== undefined && !verdicts.some(({ applied }) => applied.policy === query.policy)) {
      throw new NotFoundException(
        `no policy ${query.policy} applies; those that do: ${verdicts.map(({ applied }) => applied.policy).join(', ')}`,
      );
    }
    const wanted = verdicts.filter((verdict) => query.policy === undefined || verdict.applied.policy === query.policy);
    return { keys: wanted.map(report) };
  }

  @Delete()
  async reset(@Query() query: CallerQuery): Promise<{ readonly reset: readonly string[] }> {
    const reset = await this.admission.reset(this.route(query), this.subject(query), query.policy).catch(unavailable);
    if (query.policy !== undefined && reset.length === 0) throw new NotFoundException(`no policy ${query.policy} applies`);
    return { reset };
  }

  private route(query: CallerQuery): Route {
    const { routes } = this.rules.current;
    const route = routes.get(query.route);
    if (route === undefined) throw new NotFoundException(`no route is called ${query.route}; routes: ${[...routes.keys()].join(', ')}`);
    return route;
  }

  private subject(query: CallerQuery): Subject {
    if ((query.tenant === undefined) === (query.ip === undefined)) throw new BadRequestException('give either tenant or ip');
    const { tenant, user, apiKey } = query;
    const ip =
      (query.ip === undefined ? undefined : partitionOfAddress(query.ip, this.rules.current.edge.identity.ipv6Prefix)) ?? 'unknown';
    return { tenant, user, apiKey, ip };
  }
}

function report(verdict: PolicyVerdict & { readonly key: string }): KeyReport {
  return { key: verdict.key, ...budgetOf(verdict), selector: verdict.applied.selector, shadow: verdict.applied.shadow };
}

function unavailable(error: unknown): never {
  throw storeUnavailable(error);
}
