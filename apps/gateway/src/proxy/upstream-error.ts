import { plainProblem, type Problem } from '../answers/problem.js';

/** An upstream that did not answer in time: 504; one that cannot be reached or broke off: 502. No detail names its address. */
export function upstreamProblem(error: Error): Problem {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return plainProblem(504, 'Gateway Timeout', 'The upstream did not accept the connection in time.');
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return plainProblem(504, 'Gateway Timeout', 'The upstream did not answer in time.');
    case 'ECONNREFUSED':
      return plainProblem(502, 'Bad Gateway', 'The upstream refuses connections.');
    default:
      return plainProblem(502, 'Bad Gateway', 'The upstream broke off before answering.');
  }
}
