import type { IncomingMessage } from 'node:http';
import { canonicalPath } from '#libs/rules';

/** A request target as it is matched and forwarded: the canonical path, and the query untouched (with its `?`). */
export type RequestTarget =
  | {
      readonly path: string;
      readonly query: string;
      /** The path was written in another way than the canonical one. */
      readonly rewritten: boolean;
    }
  | { readonly refused: string };

const TARGET = Symbol('esclusa:target');
type Targeted = IncomingMessage & { [TARGET]?: RequestTarget };

/** Where requests go whose target was refused: a path that no controller owns, since it is not canonical. */
const NOWHERE = '/%00';

/**
 * Runs before routing. The router sees the canonical path, so the edge's own controllers, the route table and the upstream
 * all see the same one.
 */
export function canonicalTarget(request: IncomingMessage): string {
  const url = request.url ?? '';
  const queryAt = url.indexOf('?');
  const written = queryAt < 0 ? url : url.slice(0, queryAt);
  const canonical = canonicalPath(written);
  const query = queryAt < 0 ? '' : url.slice(queryAt);
  const target = 'path' in canonical ? { path: canonical.path, query, rewritten: canonical.path !== written } : canonical;
  (request as Targeted)[TARGET] = target;
  return 'path' in target ? target.path + query : NOWHERE;
}

export function targetOf(request: IncomingMessage): RequestTarget {
  return (request as Targeted)[TARGET] ?? { refused: 'the request target was not read' };
}
