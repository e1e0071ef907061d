import type { FlatFields } from './rate-limit-fields.js';
import { exposedFields } from './cors.js';
import type { RateLimitDialect } from './rate-limit-fields.js';
import type { Refusal } from './problem.js';
import { proxyStatusField } from './proxy-status.js';

/** What an answer depends on besides what it says. */
export interface AnswerContext {
  /** The edge's own name. */
  readonly edge: string;
  readonly dialect: RateLimitDialect;
  /** Budget fields, where admission got that far. */
  readonly budget: FlatFields;
  readonly requestId: string | undefined;
  /** The caller is a script of another origin. */
  readonly crossOrigin: boolean;
}

/** A refusal as HTTP: never cacheable; readable by scripts of any origin, since it tells nothing that is not the caller's own. */
export function answerOf(refusal: Refusal, context: AnswerContext): { readonly head: string[]; readonly body: Buffer } {
  const body = Buffer.from(JSON.stringify(refusal.problem));
  const head = ['Content-Type', 'application/problem+json', 'Content-Length', String(body.length), 'Cache-Control', 'no-store'];
  head.push(...context.budget, ...refusal.fields);
  head.push('Proxy-Status', proxyStatusField(context.edge, refusal.proxyStatus, refusal.problem.status));
  if (context.requestId !== undefined) head.push('X-Request-Id', context.requestId);
  if (context.crossOrigin) {
    head.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposedFields(context.dialect));
  }
  return { head, body };
}
