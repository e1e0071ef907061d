/** Routes, policies, tiers and tenants: both documents, their validation, and the snapshot that a request is resolved against. */
export { canonicalPath, type CanonicalPath } from './canonical-path.js';
export { NOT_FORWARDED, compileRules } from './compile-rules.js';
export type { EdgeDocument } from './documents/edge-document.js';
export type { LimitsDocument } from './documents/limits-document.js';
export { parseLimit } from './documents/parse-limit.js';
export { DocumentError, type Problem } from './documents/problem.js';
export { toEdgeConfig } from './edge-config.js';
export type { EdgeConfig, IdentityConfig, Listener, Upstream, UpstreamTls } from './edge-config.js';
export type { ExplainQuery, ExplainedPolicy, Explanation } from './explain.js';
export { explanationText } from './explanation-text.js';
export type { Limit, LimitOptions, TokenBucketLimit, UnlimitedLimit } from './limits/limit.js';
export { documentKind, loadEdgeDocument, loadLimitsDocument } from './load.js';
export {
  RATE_LIMIT_ROUTE,
  UNMATCHED_ROUTE,
  type Criticality,
  type FailureMode,
  type PartitionName,
  type Route,
  type Subject,
} from './model.js';
export type { OwnedPolicy, OwnedRoute, Skip } from './owned.js';
export { encodeKeyValue } from './partition.js';
export type { AppliedPolicy } from './policies.js';
export { Rules, type AppliedCheck } from './rules.js';
export { documentSchemas } from './schemas.js';
