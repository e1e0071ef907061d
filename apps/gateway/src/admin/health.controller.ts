import { Controller, Get } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { EdgeRules } from '../edge/edge-rules.js';
import { Lifecycle } from './lifecycle.js';

/** Liveness depends on nothing; readiness on having rules and not being about to stop. Neither ever asks Redis. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly rules: EdgeRules,
    private readonly lifecycle: Lifecycle,
  ) {}

  @Get('live')
  @HealthCheck()
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([(): HealthIndicatorResult => this.rulesIndicator()]);
  }

  private rulesIndicator(): HealthIndicatorResult {
    const indicator = this.indicators.check('rules');
    if (this.lifecycle.stopping) return indicator.down('stopping');
    return indicator.up({ revision: this.rules.current.revision });
  }
}
