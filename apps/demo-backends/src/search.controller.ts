import { Controller, Get, Header, Inject, Module, Query, Req, type DynamicModule } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrivalOf, type Arrival } from './arrival.js';
import { serviceTimes, type ServiceRange } from './service-times.js';
import { SlotPool } from './slot-pool.js';

export interface SearchOptions {
  readonly slots: number;
  readonly service: ServiceRange;
  readonly seed: number;
}

const SEARCH_OPTIONS: unique symbol = Symbol('SearchOptions');

export interface SearchAnswer {
  readonly q: string;
  readonly hits: readonly string[];
  /** Which slot served it, how long it waited for one and how long it took. */
  readonly slot: number;
  readonly queuedMs: number;
  readonly serviceMs: number;
  readonly arrived: Arrival;
}

/** The expensive backend: each search occupies one of a few slots for a while, and waits where none is free. */
@Controller()
export class SearchController {
  private readonly pool: SlotPool;
  private readonly nextServiceMs: () => number;

  constructor(@Inject(SEARCH_OPTIONS) options: SearchOptions) {
    this.pool = new SlotPool(options.slots);
    this.nextServiceMs = serviceTimes(options.service, options.seed);
  }

  @Get('search')
  @Header('x-backend', 'search')
  async search(@Query('q') query: unknown, @Req() request: FastifyRequest): Promise<SearchAnswer> {
    const q = typeof query === 'string' ? query : '';
    const serviceMs = this.nextServiceMs();
    const nowMs = performance.now();
    const { slot, queuedMs, endsAtMs } = this.pool.book(nowMs, serviceMs);
    await sleep(endsAtMs - nowMs);
    return { q, hits: [`${q} one`, `${q} two`], slot, queuedMs: Math.round(queuedMs), serviceMs, arrived: arrivalOf(request) };
  }
}

@Module({})
export class SearchModule {
  static with(options: SearchOptions): DynamicModule {
    return { module: SearchModule, controllers: [SearchController], providers: [{ provide: SEARCH_OPTIONS, useValue: options }] };
  }
}
