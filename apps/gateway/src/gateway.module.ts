import { Module, type DynamicModule, type ModuleMetadata, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Admission } from '#libs/admission';
import { Identifier } from '#libs/identity';
import { RedisClient } from '#libs/redis';
import { loadLimitsDocument, type EdgeDocument } from '#libs/rules';
import { ArrivalReader } from './admission/arrival.js';
import { AdmissionGuard } from './admission/admission.guard.js';
import { Gate } from './admission/gate.js';
import { ProblemFilter } from './answers/problem.filter.js';
import { BudgetController } from './budget/budget.controller.js';
import { EdgeRules } from './edge/edge-rules.js';
import { OwnedBodyGuard } from './edge/owned-body.guard.js';
import { GatewayEnv } from './gateway.env.js';
import { Entrance } from './proxy/entrance.js';
import { Forwarder } from './proxy/forwarder.js';
import { Upgrades } from './proxy/upgrades.js';
import { Upstreams } from './proxy/upstreams.js';
import { connectStore, makeAdmission, makeIdentifier } from './wiring.js';
import { DecisionMetrics } from './telemetry/decision-metrics.js';
import { DecisionObserver } from './telemetry/decision-observer.js';
import { ProxyMetrics } from './telemetry/proxy-metrics.js';
import { RefusalLog } from './telemetry/refusal-log.js';

export interface GatewayParts {
  readonly env: GatewayEnv;
  readonly edge: EdgeDocument;
  readonly metrics: DecisionMetrics;
  /** Modules with controllers that the edge owns. */
  readonly features: NonNullable<ModuleMetadata['imports']>;
}

/** The public application: the edge's own controllers behind the guard, and the proxy for the rest. */
@Module({})
export class GatewayModule {
  /** @throws DocumentError */
  static register({ env, edge, metrics, features }: GatewayParts): DynamicModule {
    const limits = loadLimitsDocument(env.LIMITS_SOURCE);
    const providers: Provider[] = [
      { provide: GatewayEnv, useValue: env },
      {
        provide: EdgeRules,
        useFactory: (discovery: DiscoveryService) => EdgeRules.compile(edge, limits, discovery),
        inject: [DiscoveryService],
      },
      { provide: Identifier, useFactory: makeIdentifier, inject: [EdgeRules, GatewayEnv] },
      { provide: RedisClient, useFactory: connectStore, inject: [GatewayEnv, DecisionMetrics] },
      { provide: Admission, useFactory: makeAdmission, inject: [EdgeRules, DecisionMetrics, { token: RedisClient, optional: true }] },
      ArrivalReader,
      { provide: DecisionMetrics, useValue: metrics },
      ProxyMetrics,
      DecisionObserver,
      RefusalLog,
      Gate,
      Entrance,
      Forwarder,
      Upstreams,
      Upgrades,
      ProblemFilter,
      // In this order: bodies are read after admission.
      { provide: APP_GUARD, useClass: AdmissionGuard },
      { provide: APP_GUARD, useClass: OwnedBodyGuard },
      { provide: APP_FILTER, useExisting: ProblemFilter },
    ];
    return {
      module: GatewayModule,
      imports: [DiscoveryModule, ...features],
      controllers: [BudgetController],
      providers,
      // Features may inject these; they cannot import this module, which imports them.
      global: true,
      exports: [Admission, ArrivalReader, Gate, DecisionObserver, EdgeRules, GatewayEnv, Identifier],
    };
  }
}
