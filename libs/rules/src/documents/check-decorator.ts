import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { PartitionName } from '../model.js';
import type { OwnedPolicy } from '../owned.js';
import { checkLimits } from './check-limits.js';
import { LimitsDocument } from './limits-document.js';
import type { Problem } from './problem.js';
import { Findings, reportErrors } from './read-document.js';

/** What is wrong with a decorator's policy, by the rules of the limits document; undefined where nothing is. */
export function limitProblem(policy: OwnedPolicy, per: readonly PartitionName[]): Pick<Problem, 'found' | 'allowed'> | undefined {
  const content = { version: 1, policies: [{ name: policy.name, per, callers: 'all', limits: [{ default: true, ...policy.limit }] }] };
  const document = plainToInstance(LimitsDocument, content);
  const findings = new Findings({ file: '', lineOf: () => undefined });
  reportErrors(validateSync(document, { whitelist: true, forbidNonWhitelisted: true }), [], findings);
  if (findings.problems.length === 0) checkLimits(document, findings);
  const [problem] = findings.problems;
  return problem && { found: problem.found, allowed: problem.allowed };
}
