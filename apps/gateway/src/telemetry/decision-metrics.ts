import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Decision, PolicyVerdict } from '#libs/admission';
import type { BreakerState, CallResult } from '#libs/redis';

const BREAKER_VALUES: Readonly<Record<BreakerState, number>> = { closed: 0, closing: 0.5, open: 1 };

/** The gateway's metrics. No label ever names a tenant, user, key or address: their values come from the documents alone. */
@Injectable()
export class DecisionMetrics {
  readonly registry = new Registry();
  private readonly bound = new Map<string, Counter.Internal>();

  private readonly decisions = new Counter({
    name: 'esclusa_decisions_total',
    help: 'Decisions by route, outcome and reason.',
    labelNames: ['route', 'outcome', 'reason'] as const,
    registers: [this.registry],
  });
  private readonly verdicts = new Counter({
    name: 'esclusa_policy_verdicts_total',
    help: 'What each policy said, shadow ones too.',
    labelNames: ['policy', 'verdict', 'shadow'] as const,
    registers: [this.registry],
  });
  private readonly duration = new Histogram({
    name: 'esclusa_decision_duration_seconds',
    help: 'From a request in hand to its decision: identity, rules and store.',
    buckets: [0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
    registers: [this.registry],
  });
  private readonly storeCalls = new Counter({
    name: 'esclusa_store_calls_total',
    help: 'Store calls by what became of them; late replies were discarded.',
    labelNames: ['result'] as const,
    registers: [this.registry],
  });
  private readonly connected = new Gauge({
    name: 'esclusa_store_connected',
    help: '1 while a Redis node is connected and ready; 0 while failure modes decide. Absent with limits in memory.',
    labelNames: ['node'] as const,
    registers: [this.registry],
  });
  private readonly breaker = new Gauge({
    name: 'esclusa_store_breaker_state',
    help: 'The breaker of a Redis node: 0 closed, calls go; 1 open, failure modes decide at once; 0.5 closing, a growing share of calls goes.',
    labelNames: ['node'] as const,
    registers: [this.registry],
  });
  private readonly healed = new Counter({
    name: 'esclusa_store_healed_total',
    help: 'Buckets found damaged or of a foreign type, and started afresh.',
    registers: [this.registry],
  });
  private readonly addressless = new Counter({
    name: 'esclusa_addressless_requests_total',
    help: 'Requests whose connection had no address; they share one bucket.',
    registers: [this.registry],
  });
  private readonly revision = new Gauge({
    name: 'esclusa_limits_revision',
    help: 'Revision of the limits in force; 0 where the file carries none.',
    registers: [this.registry],
  });

  observe(decision: Decision, seconds: number): void {
    const reason = decision.reason ?? 'none';
    this.counter(`d ${decision.route.name} ${decision.outcome} ${reason}`, () =>
      this.decisions.labels(decision.route.name, decision.outcome, reason),
    ).inc();
    for (const policy of decision.policies) this.observeVerdict(policy);
    this.duration.observe(seconds);
    if (decision.subject.ip === 'unknown') this.addressless.inc();
  }

  storeCall(result: CallResult): void {
    this.counter(`s ${result}`, () => this.storeCalls.labels(result)).inc();
  }

  storeConnected(node: string, connected: boolean): void {
    this.connected.labels(node).set(connected ? 1 : 0);
  }

  storeBreaker(node: string, state: BreakerState): void {
    this.breaker.labels(node).set(BREAKER_VALUES[state]);
  }

  storeGone(node: string): void {
    this.connected.remove(node);
    this.breaker.remove(node);
  }

  healedBuckets(count: number): void {
    this.healed.inc(count);
  }

  limitsRevision(revision: number): void {
    this.revision.set(revision);
  }

  private observeVerdict({ applied, verdict }: PolicyVerdict): void {
    this.counter(`v ${applied.policy} ${verdict} ${applied.shadow}`, () =>
      this.verdicts.labels(applied.policy, verdict, String(applied.shadow)),
    ).inc();
  }

  /** A child counter by its labels, looked up once. */
  private counter(key: string, bind: () => Counter.Internal): Counter.Internal {
    let counter = this.bound.get(key);
    if (counter === undefined) {
      counter = bind();
      this.bound.set(key, counter);
    }
    return counter;
  }
}
