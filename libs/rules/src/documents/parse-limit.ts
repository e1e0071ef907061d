import type { Limit, LimitOptions } from '../limits/limit.js';
import { checkKind } from './check-limits.js';
import { Findings } from './findings.js';
import { LimitFields } from './limit-fields.js';
import { toInstance } from './read-document.js';

/** A limit from what a user wrote outside of a document, by the documents' rules. @throws DocumentError with every problem found */
export function parseLimit(options: LimitOptions): Limit {
  const findings = new Findings({ file: 'limit', lineOf: () => undefined });
  const limit = toInstance(LimitFields, options, [], findings);
  findings.throwIfAny();
  const parsed = checkKind(limit, [], findings);
  findings.throwIfAny();
  // Without findings there is exactly one kind.
  return parsed as Limit;
}
