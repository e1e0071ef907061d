/** The pipeline from "who asks for what" to a decision, as plain values: no HTTP, no Redis. */
export { Admission, type AdmissionOptions, type AdmissionRequest } from './admission.js';
export { isViolated } from './decisions.js';
export type { Decision, Outcome, PolicyVerdict, Reason, Source } from './decision.js';
