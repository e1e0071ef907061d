import type { PolicyVerdict } from '#libs/admission';
import { quotaOf } from '../answers/rate-limit-fields.js';

/** One policy's budget as JSON. */
export interface Budget {
  readonly policy: string;
  readonly per: readonly string[];
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Until everything is available again. */
  readonly resetAfterMs: number;
}

export function budgetOf({ applied, remaining, resetAfterMs }: PolicyVerdict): Budget {
  const { quota, windowSeconds } = quotaOf(applied);
  return { policy: applied.policy, per: applied.per, quota, windowSeconds, remaining, resetAfterMs };
}
