import { Injectable } from '@nestjs/common';
import type { Decision } from '#libs/admission';
import { DecisionMetrics } from './decision-metrics.js';
import { RefusalLog } from './refusal-log.js';

/** Everything that learns of a decision once it is made; none of it may wait. */
@Injectable()
export class DecisionObserver {
  constructor(
    private readonly metrics: DecisionMetrics,
    private readonly refusals: RefusalLog,
  ) {}

  observe(decision: Decision, seconds: number): void {
    this.metrics.observe(decision, seconds);
    if (decision.outcome !== 'allowed') this.refusals.note(decision);
  }
}
