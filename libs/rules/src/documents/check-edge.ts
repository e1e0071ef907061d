import { canonicalPath } from '../canonical-path.js';
import { checkListener, checkUpgrades, checkUpstream } from './check-forwarding.js';
import { shapeOf } from '../matcher.js';
import { RATE_LIMIT_ROUTE, UNMATCHED_ROUTE } from '../model.js';
import type { EdgeDocument, RouteOptions } from './edge-document.js';
import { show } from './problem.js';
import type { Findings } from './findings.js';

/** What no single field can tell: names, references and overlaps. */
export function checkEdge(edge: EdgeDocument, findings: Findings): void {
  edge.routes.forEach((route, i) => {
    checkPath(route, i, findings);
    checkUpgrades(route, i, findings);
    if (!edge.upstreams.has(route.upstream)) {
      findings.add(
        ['routes', i, 'upstream'],
        show(route.upstream),
        `an upstream of this document: ${[...edge.upstreams.keys()].join(', ')}`,
      );
    }
    if (route.name === UNMATCHED_ROUTE || route.name === RATE_LIMIT_ROUTE) {
      findings.add(['routes', i, 'name'], show(route.name), 'a name other than those of the built-in routes unmatched and rate-limit');
    }
    checkAgainst(edge.routes.slice(0, i), route, i, findings);
    if (route.auth === 'required' && edge.identity.apiKeys === undefined && (edge.identity.jwt ?? []).length === 0) {
      findings.add(['routes', i, 'auth'], show(route.auth), 'optional, since identity names neither apiKeys nor jwt');
    }
    if (route.failureMode === 'local' && edge.local === undefined) {
      findings.add(['local'], undefined, `{ gateways: <how many share the limits> }, since route ${route.name} has failureMode local`);
    }
  });
  checkListener(edge.listener, findings);
  for (const [name, upstream] of edge.upstreams) checkUpstream(name, upstream, findings);
  edge.identity.jwt?.forEach(({ issuer, jwks }, i, all) => {
    if ((jwks.url === undefined) === (jwks.file === undefined))
      findings.add(['identity', 'jwt', i, 'jwks'], show(jwks), 'exactly one of url and file');
    const before = all.findIndex((other) => other.issuer === issuer);
    if (before < i) findings.add(['identity', 'jwt', i, 'issuer'], show(issuer), `an issuer of its own; jwt[${before}] has it already`);
  });
}

const PATH = 'a canonical path of literal segments, :name segments and, as the last one, *';

function checkPath(route: RouteOptions, i: number, findings: Findings): void {
  const at = ['routes', i, 'path'];
  const canonical = canonicalPath(route.path);
  if (!('path' in canonical) || canonical.path !== route.path) {
    findings.add(at, show(route.path), PATH);
    return;
  }
  const segments = route.path.split('/').slice(1);
  const odd = segments.some((segment, n) =>
    segment.startsWith(':') ? !/^:[A-Za-z]\w*$/.test(segment) : segment.includes('*') && (segment !== '*' || n !== segments.length - 1),
  );
  if (odd) findings.add(at, show(route.path), PATH);
  if (route.path === '/rate-limit') findings.add(at, show(route.path), 'a path other than /rate-limit, which the edge answers itself');
}

function checkAgainst(earlier: readonly RouteOptions[], route: RouteOptions, i: number, findings: Findings): void {
  earlier.forEach((other, j) => {
    if (other.name === route.name) findings.add(['routes', i, 'name'], show(route.name), `a name of its own; routes[${j}] has it already`);
    if (shapeOf(other.path) === shapeOf(route.path) && overlap(other.methods, route.methods)) {
      findings.add(
        ['routes', i, 'path'],
        show(route.path),
        `a path and methods of its own; routes[${j}] (${other.name}) takes the same requests`,
      );
    }
  });
}

/** Routes for all methods stand behind those that name some, so only like meets like. */
function overlap(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return withHead(a).some((method) => withHead(b).includes(method));
}

export function withHead(methods: readonly string[]): readonly string[] {
  return methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'] : methods;
}
