import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Cost, Criticality, FailureMode, RateLimit, SkipAdmission } from '../decorators/admission.decorators.js';

/**
 * How a controller of the edge's own is limited. Every method counts on the class's policy `exports` (a limits document with
 * a policy of that name wins), one has a policy of its own besides, one is out of admission.
 */
@Controller('exports')
@RateLimit('exports', { tokenBucket: { capacity: 5, refillPerSecond: '1/2' } })
@Criticality('sheddable-plus')
export class ExportsController {
  @Get()
  list(): { readonly exports: readonly string[] } {
    return { exports: ['orders', 'invoices'] };
  }

  /** Costs as many units as the header asks for months, so that a year is not the price of a day. */
  @Post()
  @RateLimit('export-starts', { tokenBucket: { capacity: 24, refillPerSecond: '24/3600' } })
  @Cost((request: FastifyRequest) => Math.min(Math.max(Math.ceil(Number(request.headers['x-months'] ?? 1)) || 1, 1), 12))
  @FailureMode('closed')
  start(@Body() body: unknown): { readonly accepted: unknown } {
    return { accepted: body };
  }

  @Get('formats')
  @SkipAdmission()
  formats(): readonly string[] {
    return ['csv', 'parquet'];
  }
}

@Module({ controllers: [ExportsController] })
export class ExportsModule {}
