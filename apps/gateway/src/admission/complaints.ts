import type { Identification } from '#libs/identity';
import { Refusal, plainProblem } from '../answers/problem.js';
import type { Arrival } from './arrival.js';

const CHALLENGE = ['WWW-Authenticate', 'Bearer, ApiKey'];

/** Why a request that its limits admit still ends at the edge; undefined where it may pass. It has been charged to its address. */
export function complain(arrival: Arrival, who: Identification): Refusal | undefined {
  switch (arrival.complaint?.kind) {
    case 'unmatched':
      return new Refusal(plainProblem(404, 'Not Found', 'No route matches this method and path.'), [], { error: 'destination_not_found' });
    case 'wrong-method':
      return new Refusal(plainProblem(405, 'Method Not Allowed', 'No route takes this method at this path.'), [
        'Allow',
        arrival.complaint.allowed.join(', '),
      ]);
    case 'bad-target':
      return new Refusal(plainProblem(400, 'Bad Request', `The request target cannot be used: ${arrival.complaint.detail}.`));
    case 'fault':
      throw arrival.complaint.error;
    case undefined:
      return who.kind === 'rejected' ? rejected(who.reason, who.detail) : anonymous(arrival, who);
  }
}

/** The answer to credentials that were presented and not accepted. */
export function rejected(reason: Extract<Identification, { kind: 'rejected' }>['reason'], detail: string): Refusal {
  switch (reason) {
    case 'invalid-credential':
      return new Refusal(plainProblem(401, 'Unauthorized', detail), CHALLENGE);
    case 'conflicting-credentials':
      return new Refusal(plainProblem(400, 'Bad Request', detail));
    case 'keys-unavailable':
      return new Refusal(plainProblem(503, 'Service Unavailable', detail), ['Retry-After', '1']);
  }
}

function anonymous(arrival: Arrival, who: Identification): Refusal | undefined {
  if (who.kind !== 'anonymous' || arrival.preflight || arrival.route.auth === 'optional') return undefined;
  return new Refusal(plainProblem(401, 'Unauthorized', 'This route needs a credential.'), CHALLENGE);
}
