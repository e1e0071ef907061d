import { describe, expect, it } from '@jest/globals';
import { redisUrlProblem } from './redis-url.js';

describe('redisUrlProblem', () => {
  it.each(['redis://localhost', 'redis://:secret@10.0.0.1:6380/2', 'rediss://user:pw@redis.example:6379'])('takes %s', (url) => {
    expect(redisUrlProblem(url)).toBeUndefined();
  });

  it.each([
    ['redis+cluster://a,b', 'not supported in this version'],
    ['redis+sentinel://a,b/main', 'not supported in this version'],
    ['http://localhost', 'must be redis://'],
    ['localhost:6379', 'must be redis://'],
    ['redis://', 'names no host'],
    ['redis://localhost/db', 'database number'],
  ])('refuses %s and says why', (url, why) => {
    expect(redisUrlProblem(url)).toContain(why);
  });
});
