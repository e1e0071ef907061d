import type { Figures } from './rounds.js';
import { median } from './stats.js';

/** What a contender must do per CPU second, as a multiple of another one in the same run. */
export interface Budget {
  readonly name: string;
  readonly base: string;
  readonly atLeast: number;
}

export interface Judgement extends Budget {
  readonly ratio: number;
  readonly kept: boolean;
}

/** Requests per CPU second of one contender as a multiple of another's. @throws Error where one of them was not measured */
export function perCpuSecondRatio(figures: readonly Figures[], name: string, base: string): number {
  const of = (contender: string): number => {
    const found = figures.find((one) => one.name === contender);
    if (found === undefined) throw new Error(`${contender} was not measured`);
    return median(found.saturated.map(({ perCpuSecond }) => perCpuSecond));
  };
  return of(name) / of(base);
}

export function judge(budgets: readonly Budget[], figures: readonly Figures[]): readonly Judgement[] {
  return budgets.map((budget) => {
    const ratio = perCpuSecondRatio(figures, budget.name, budget.base);
    return { ...budget, ratio, kept: ratio >= budget.atLeast };
  });
}

export function judgementText({ name, base, atLeast, ratio, kept }: Judgement): string {
  return `${name}: at least ${atLeast} × ${base} per CPU second; it was ${ratio.toFixed(2)} ×${kept ? '' : ', too little'}`;
}
