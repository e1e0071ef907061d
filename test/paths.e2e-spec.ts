import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { SkipAdmission } from '../apps/gateway/src/decorators/admission.decorators.js';
import { bucket, policy, startEdge, type TestEdge } from './support/edge.js';
import { ask, tally, times, type Answer } from './support/http.js';

const perRoute = (capacity: number) => [policy('address', ['ip', 'route'], bucket(capacity, '1/600'))];

describe('spellings of one path', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge({
      routes: [
        { name: 'login', path: '/api/login', methods: ['POST'] },
        { name: 'verify', path: '/verify/:code' },
        { name: 'external', path: '/external/*' },
      ],
      policies: perRoute(5),
    });
  });
  afterAll(() => edge.close());

  it('HTTP-01: encoded letters share one bucket, and the upstream gets the path that was matched', async () => {
    const spellings = ['/api/login', '/api/%6cogin', '/%61pi/login', '/api/lo%67in', '/api/login?x=1'];
    const answers = await times(20, (i) => ask(edge.url, spellings[i % spellings.length]!, { method: 'POST' }));
    expect(tally(answers)).toEqual({ 200: 5, 429: 15 });
    expect(new Set(edge.backend.requests.map(({ url }) => url.split('?')[0]))).toEqual(new Set(['/api/login']));
  });

  it('KEY-15: path parameters, queries and matrix parameters make no new buckets', async () => {
    const answers = await times(20, (i) =>
      ask(edge.url, [`/verify/c${i}`, `/verify/c${i}?a=${i}`, `/verify/%61${i}`, `/verify/c${i};v=${i}`][i % 4]!),
    );
    expect(tally(answers)).toEqual({ 200: 5, 429: 15 });
  });

  it('HTTP-03: dot segments, encoded slashes and backslashes never reach the upstream', async () => {
    edge.backend.forget();
    const hostile = [
      '/external/../internal',
      '/external/%2e%2e/internal',
      '/external/.%2e/internal',
      '/external/..%2finternal',
      '/external/%252e%252e/internal',
      '/external\\..\\internal',
      '/external//x',
      '/external/%00',
      '/external/%zz',
      '/external/%80',
      '/external/%ED%A0%80',
    ];
    for (const path of hostile) expect([path, [400, 429].includes((await ask(edge.url, path)).status)]).toEqual([path, true]);
    expect(edge.backend.requests).toEqual([]);
  });
});

describe('what no route matches', () => {
  it('HTTP-07: is 404 until the address is over its limit, then 429, and real routes share that limit', async () => {
    const edge = await startEdge({
      routes: [{ name: 'real', path: '/real', methods: ['GET'] }],
      policies: [policy('address', ['ip'], bucket(20, '20/3600'))],
    });
    const odd = (i: number): string => [`/nothing/${i}`, `/a%zz${i}`, `/real/../${i}`, `/${'x'.repeat(300)}${i}`][i % 4]!;
    const answers: Answer[] = [];
    for (let i = 0; i < 100; i += 1) answers.push(await ask(edge.url, odd(i), { method: ['GET', 'POST', 'PROPFIND', 'DELETE'][i % 4]! }));
    expect(tally(answers)).toEqual({ 404: 10, 400: 10, 429: 80 });
    expect((await ask(edge.url, '/real')).status).toBe(429);
    expect(answers[0]?.json()).toMatchObject({ status: 404, title: 'Not Found' });
    const metrics = (await ask(edge.gateway.adminUrl, '/metrics')).text;
    expect(metrics).toContain('esclusa_decisions_total{route="unmatched",outcome="limited",reason="quota"} 80');
    expect(edge.backend.requests).toEqual([]);
    await edge.close();
  });

  it('a wrong method is 405, and HEAD counts as GET', async () => {
    const edge = await startEdge({
      routes: [{ name: 'report', path: '/report', methods: ['GET'] }],
      policies: perRoute(5),
    });
    const wrong = await ask(edge.url, '/report', { method: 'DELETE' });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, HEAD']);
    await times(5, () => ask(edge.url, '/report', { method: 'HEAD' }));
    const refused = await ask(edge.url, '/report', { method: 'HEAD' });
    expect([refused.status, refused.text]).toEqual([429, '']);
    expect((await ask(edge.url, '/report')).status).toBe(429);
    await edge.close();
  });
});

@Controller('api/health')
class HealthExample {
  @Get()
  @SkipAdmission()
  health(): string {
    return 'fine';
  }
}
@Module({ controllers: [HealthExample] })
class HealthModule {}

describe('edges of patterns', () => {
  it('NEST-07: root, prefix, wildcard and an excluded path are limited or excluded as documented', async () => {
    const edge = await startEdge({ routes: [{ name: 'api', path: '/api/*' }], policies: perRoute(3) }, [HealthModule]);
    const statuses = async (path: string): Promise<Record<number, number>> => tally(await times(4, () => ask(edge.url, path)));
    expect(await statuses('/')).toEqual({ 404: 3, 429: 1 });
    expect(await statuses('/api')).toEqual({ 429: 4 });
    expect(await statuses('/apix')).toEqual({ 429: 4 });
    expect(await statuses('/api/')).toEqual({ 200: 3, 429: 1 });
    for (const path of ['/api/x', '/api/healthz', '/api/health/x']) expect(await statuses(path)).toEqual({ 429: 4 });
    expect(await statuses('/api/health')).toEqual({ 200: 4 });
    await edge.close();
  });
});
