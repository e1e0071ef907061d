import type { PartitionName } from '../model.js';
import type { OwnedPolicy } from '../owned.js';
import { checkLimits } from './check-limits.js';
import { Findings } from './findings.js';
import { LimitsDocument } from './limits-document.js';
import type { Problem } from './problem.js';
import { toInstance } from './read-document.js';

/** What is wrong with a decorator's policy, by the rules of the limits document; undefined where nothing is. */
export function limitProblem(policy: OwnedPolicy, per: readonly PartitionName[]): Pick<Problem, 'found' | 'allowed'> | undefined {
  const content = { version: 1, policies: [{ name: policy.name, per, callers: 'all', limits: [{ default: true, ...policy.limit }] }] };
  const findings = new Findings({ file: '', lineOf: () => undefined });
  const document = toInstance(LimitsDocument, content, [], findings);
  if (findings.problems.length === 0) checkLimits(document, findings);
  const [problem] = findings.problems;
  return problem && { found: problem.found, allowed: problem.allowed };
}
