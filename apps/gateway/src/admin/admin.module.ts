import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { Admission } from '#libs/admission';
import { ProblemFilter } from '../answers/problem.filter.js';
import { EdgeRules } from '../edge/edge-rules.js';
import { GatewayEnv } from '../gateway.env.js';
import { DecisionMetrics } from '../telemetry/decision-metrics.js';
import { AdminTokenGuard } from './admin-token.guard.js';
import { HealthController } from './health.controller.js';
import { KeysController } from './keys.controller.js';
import { Lifecycle } from './lifecycle.js';
import { MetricsController } from './metrics.controller.js';

/** What the admin port shows of a running gateway. */
export interface AdminSubjects {
  readonly env: GatewayEnv;
  readonly metrics: DecisionMetrics;
  readonly rules: EdgeRules;
  readonly admission: Admission;
  readonly lifecycle: Lifecycle;
}

/** A second application on a port of its own: nothing here passes the edge's limits, and no public path reaches it. */
@Module({})
export class AdminModule {
  static of(subjects: AdminSubjects): DynamicModule {
    const providers: Provider[] = [
      { provide: GatewayEnv, useValue: subjects.env },
      { provide: DecisionMetrics, useValue: subjects.metrics },
      { provide: EdgeRules, useValue: subjects.rules },
      { provide: Admission, useValue: subjects.admission },
      { provide: Lifecycle, useValue: subjects.lifecycle },
      { provide: APP_FILTER, useClass: ProblemFilter },
      AdminTokenGuard,
    ];
    return {
      module: AdminModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [HealthController, MetricsController, KeysController],
      providers,
    };
  }
}
