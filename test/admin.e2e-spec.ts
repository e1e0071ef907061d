import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bucket, policy, startEdge, type TestEdge } from './support/edge.js';
import { ask, tally, times } from './support/http.js';

const TOKEN = 'an admin token for tests';

describe('the admin port', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge({
      policies: [policy('requests', ['tenant', 'route'], bucket(2, '1/3600')), policy('address', ['ip'], bucket(3, '1/1200'))],
      callers: { a: { tenant: 'acme' } },
      env: { ADMIN_TOKEN: TOKEN },
    });
  });
  afterAll(() => edge.close());

  const admin = (path: string, method = 'GET', token = TOKEN) =>
    ask(edge.gateway.adminUrl, path, { method, headers: { authorization: `Bearer ${token}` } });
  const asAcme = () => ask(edge.url, '/x', { headers: { 'x-api-key': edge.keys.a ?? '' } });

  it('SHED-09: health and metrics are outside all limits and not reachable from the public port', async () => {
    expect(tally(await times(6, () => ask(edge.url, '/y')))).toEqual({ 200: 3, 429: 3 });
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect(tally(await times(10, () => ask(edge.gateway.adminUrl, path)))).toEqual({ 200: 10 });
      expect((await ask(edge.url, path)).status).toBe(429);
    }
    expect((await ask(edge.gateway.adminUrl, '/health/ready')).json()).toMatchObject({ status: 'ok', details: { rules: { revision: 7 } } });
  });

  it('counts decisions, verdicts and durations, and knows no caller by name', async () => {
    await asAcme();
    const { text } = await ask(edge.gateway.adminUrl, '/metrics');
    expect(text).toContain('esclusa_policy_verdicts_total{policy="requests",verdict="admitted",shadow="false"}');
    expect(text).toContain('esclusa_decision_duration_seconds_bucket{le="0.00005"}');
    expect(text).toContain('esclusa_limits_revision 7');
    expect(text).not.toMatch(/acme|127\.0\.0/);
  });

  it("shows a caller's keys and refills them, behind the token only", async () => {
    await times(3, asAcme);
    expect((await asAcme()).status).toBe(429);
    const shown = await admin('/keys?route=all&tenant=acme');
    expect(shown.json()).toEqual({
      keys: [
        expect.objectContaining({
          key: 'rl1:{tenant:acme}:requests:route:all',
          policy: 'requests',
          remaining: 0,
          quota: 2,
          selector: 'default',
        }),
      ],
    });
    expect((await admin('/keys?route=all&tenant=acme', 'DELETE')).json()).toEqual({ reset: ['rl1:{tenant:acme}:requests:route:all'] });
    expect((await asAcme()).status).toBe(200);
    expect((await admin('/keys?route=all&tenant=acme', 'GET', 'wrong')).status).toBe(401);
    expect((await ask(edge.gateway.adminUrl, '/keys?route=all&tenant=acme')).status).toBe(401);
  });

  it.each([
    ['/keys?tenant=acme', 400],
    ['/keys?route=none&tenant=acme', 404],
    ['/keys?route=all', 400],
    ['/keys?route=all&tenant=acme&ip=10.0.0.1', 400],
    ['/keys?route=all&ip=nonsense', 400],
    ['/keys?route=all&tenant=acme&surprise=1', 400],
    ['/keys?route=all&tenant=acme&tenant=umbrella', 400],
    ['/keys?route=all&tenant=acme&policy=none', 404],
  ])('answers %s with %i and a problem document', async (path, status) => {
    const answer = await admin(path);
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
  });

  it('resets no policy that does not apply', async () => {
    expect((await admin('/keys?route=all&tenant=acme&policy=none', 'DELETE')).status).toBe(404);
  });

  it('keeps keys closed where no token is set', async () => {
    const closed = await startEdge({ policies: [policy('address', ['ip'], bucket(3, 1))] });
    expect((await ask(closed.gateway.adminUrl, '/keys?route=all&ip=10.0.0.1')).status).toBe(403);
    await closed.close();
  });
});
