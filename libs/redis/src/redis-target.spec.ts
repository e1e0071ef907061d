import { describe, expect, it } from '@jest/globals';
import { parseRedisUrl } from './redis-target.js';

const bare = { tls: false, username: undefined, password: undefined };

describe('parseRedisUrl', () => {
  it.each([
    ['redis://localhost', { kind: 'single', ...bare, nodes: [{ host: 'localhost', port: 6379 }], db: 0 }],
    [
      'redis://:se%40cret@10.0.0.1:6380/2',
      { kind: 'single', ...bare, password: 'se@cret', nodes: [{ host: '10.0.0.1', port: 6380 }], db: 2 },
    ],
    [
      'rediss://user:pw@redis.example:6379/',
      { kind: 'single', tls: true, username: 'user', password: 'pw', nodes: [{ host: 'redis.example', port: 6379 }], db: 0 },
    ],
    ['redis://[::1]:7000', { kind: 'single', ...bare, nodes: [{ host: '::1', port: 7000 }], db: 0 }],
    [
      'redis+sentinel://a,b:26380/main/3',
      {
        kind: 'sentinel',
        ...bare,
        nodes: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 26380 },
        ],
        name: 'main',
        db: 3,
      },
    ],
    [
      'rediss+cluster://:pw@a:7000,b:7001',
      {
        kind: 'cluster',
        tls: true,
        username: undefined,
        password: 'pw',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
        ],
      },
    ],
  ])('takes %s', (url, target) => {
    expect(parseRedisUrl(url)).toEqual(target);
  });

  it.each([
    ['http://localhost', 'must be redis://'],
    ['localhost:6379', 'must be redis://'],
    ['redis://', 'names no host'],
    ['redis+cluster:///', 'names no host'],
    ['redis://localhost/db', 'database number'],
    ['redis://a,b', 'redis+sentinel:// or redis+cluster://'],
    ['redis+sentinel://a,b', 'name of the master'],
    ['redis+sentinel://a,b/main/x', 'name of the master'],
    ['redis+cluster://a,b/1', 'no databases'],
    ['redis+cluster://a,,b', '"" is no host'],
    ['redis://a:70000', '"a:70000" is no host'],
    ['redis://%zz@a', 'percent-encoded'],
    ['redis://a?db=1', 'must be redis://'],
  ])('refuses %s and says why', (url, why) => {
    expect(parseRedisUrl(url)).toMatchObject({ problem: expect.stringContaining(why) as unknown });
  });
});
