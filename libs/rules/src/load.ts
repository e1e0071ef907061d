import { checkEdge } from './documents/check-edge.js';
import { checkLimits } from './documents/check-limits.js';
import { EdgeDocument } from './documents/edge-document.js';
import { LimitsDocument } from './documents/limits-document.js';
import { DocumentError } from './documents/problem.js';
import { readDocument } from './documents/read-document.js';
import { readYaml } from './documents/read-yaml.js';

/** Reads and validates an edge document. @throws DocumentError with every problem found */
export function loadEdgeDocument(file: string): EdgeDocument {
  const document = readDocument(file, EdgeDocument, checkEdge);
  document.file = file;
  return document;
}

/** Reads and validates a limits document. @throws DocumentError with every problem found */
export function loadLimitsDocument(file: string): LimitsDocument {
  const document = readDocument(file, LimitsDocument, checkLimits);
  document.file = file;
  return document;
}

/** Which of the two documents a file holds, by its `routes` or `policies`. @throws DocumentError where it is neither or no YAML */
export function documentKind(file: string): 'edge' | 'limits' {
  const content = readYaml(file).content as Readonly<Record<string, unknown>>;
  if ('policies' in content) return 'limits';
  if ('routes' in content || 'upstreams' in content) return 'edge';
  const found = `a mapping with ${Object.keys(content).join(', ') || 'nothing'}`;
  throw new DocumentError([{ file, path: '', found, allowed: 'an edge document (with routes) or a limits document (with policies)' }]);
}
