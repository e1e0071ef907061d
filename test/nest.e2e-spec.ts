import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AdmissionGuard } from '../apps/gateway/src/admission/admission.guard.js';
import { Cost, RateLimit, SkipAdmission } from '../apps/gateway/src/decorators/admission.decorators.js';
import { ExportsModule } from '../apps/gateway/src/examples/exports.controller.js';
import { bucket, policy, startEdge, WIDE, type TestEdge } from './support/edge.js';
import { ask, tally, times } from './support/http.js';

const never = (capacity: number) => ({ tokenBucket: { capacity, refillPerSecond: `${capacity}/3600` } });

@Controller('layers')
@RateLimit('a', never(10))
@RateLimit('b', never(12))
class Layers {
  @Get('inherits')
  inherits(): string {
    return 'ok';
  }
  @Get('overrides')
  @RateLimit('a', never(3))
  overrides(): string {
    return 'ok';
  }
  @Get('skips-a')
  @SkipAdmission('a')
  skipsA(): string {
    return 'ok';
  }
  @Get('only-a')
  @SkipAdmission({ except: ['a'] })
  onlyA(): string {
    return 'ok';
  }
  @Get('documented')
  @RateLimit('documented', never(9))
  documented(): string {
    return 'ok';
  }
}

@Controller('child')
class Child extends Layers {}

@Controller({ path: 'versioned', version: VERSION_NEUTRAL })
@RateLimit('v', never(2))
class Versioned {
  @Get()
  get(): string {
    return 'ok';
  }
}

const sameName = (path: string) => {
  @Controller(path)
  @RateLimit('same', never(2))
  class Same {
    @Get()
    get(): string {
      return path;
    }
  }
  return Same;
};

@Controller('twice')
@UseGuards(AdmissionGuard)
@RateLimit('twice', never(4))
class GuardedTwice {
  @Get()
  @UseGuards(AdmissionGuard)
  get(): string {
    return 'ok';
  }
  @Get('failing')
  @Cost((request: FastifyRequest) => Number(request.headers['x-cost']))
  failing(): string {
    return 'ok';
  }
  @Get('priced')
  @Cost(2)
  priced(): string {
    return 'ok';
  }
}

@Module({ controllers: [Layers, Child, Versioned, sameName('one'), sameName('two'), GuardedTwice], providers: [AdmissionGuard] })
class Feature {}

@Module({ imports: [Feature, ExportsModule] })
class Imported {}

describe('controllers of the edge', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge(
      {
        policies: [
          ...WIDE,
          policy('wide', ['tenant'], bucket(100_000, 1000)),
          policy('documented', ['tenant', 'route'], bucket(5, '1/600'), { callers: 'identified', routes: ['GET /layers/documented'] }),
        ],
        callers: { a: { tenant: 'a' } },
      },
      [Imported, Feature],
    );
  });
  afterAll(() => edge.close());

  const admitted = async (path: string, more: Record<string, string> = {}): Promise<number> =>
    tally(await times(20, () => ask(edge.url, path, { headers: { 'x-api-key': edge.keys.a ?? '', ...more } })))[200] ?? 0;

  it.each([
    ['/layers/inherits', 10],
    ['/layers/overrides', 3],
    ['/layers/skips-a', 12],
    ['/layers/only-a', 10],
    ['/layers/documented', 5],
    ['/child/inherits', 10],
    ['/child/overrides', 3],
    ['/versioned', 2],
    ['/one', 2],
    ['/two', 2],
  ])('NEST-03: %s admits %i: document over method over class, each route with buckets of its own', async (path, expected) => {
    expect(await admitted(path)).toBe(expected);
  });

  it('NEST-01: a request is charged once, however many guards and modules there are', async () => {
    expect(await admitted('/twice')).toBe(4);
    const metrics = (await ask(edge.gateway.adminUrl, '/metrics')).text;
    expect(metrics).toContain('esclusa_decisions_total{route="GET /twice",outcome="allowed",reason="none"} 4');
    expect(metrics).toContain('esclusa_decisions_total{route="GET /twice",outcome="limited",reason="quota"} 16');
  });

  it('what no controller takes at one of their paths is forwarded, by route and policies of the documents', async () => {
    const headers = { 'x-api-key': edge.keys.a ?? '' };
    const before = edge.backend.requests.length;
    const posted = await ask(edge.url, '/two', { method: 'POST', headers });
    const below = await ask(edge.url, '/two/more', { headers });
    expect([posted.status, below.status]).toEqual([200, 200]);
    expect(edge.backend.requests.slice(before).map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /two', 'GET /two/more']);
  });

  it('HEAD is taken by the controller that takes GET', async () => {
    const before = edge.backend.requests.length;
    expect((await ask(edge.url, '/layers/inherits', { method: 'HEAD', headers: { 'x-api-key': edge.keys.a ?? '' } })).status).toBe(429);
    expect(edge.backend.requests).toHaveLength(before);
  });

  it('a cost by decorator that fails is a fault of the edge, and charged', async () => {
    const answers = await times(20, (i) => ask(edge.url, '/twice/failing', { headers: { 'x-api-key': edge.keys.a!, 'x-cost': `-${i}` } }));
    expect(tally(answers)).toEqual({ 500: 4, 429: 16 });
    expect(answers.map(({ text }) => text).join()).not.toContain('@Cost');
  });

  it('a cost by decorator is charged', async () => {
    expect(await admitted('/twice/priced')).toBe(2);
  });

  it('the example: class policy, a policy and cost of a method, and a method out of admission', async () => {
    const headers = { 'x-api-key': edge.keys.a ?? '', 'content-type': 'application/json' };
    expect(tally(await times(8, () => ask(edge.url, '/exports/formats', { headers })))).toEqual({ 200: 8 });
    expect(tally(await times(7, () => ask(edge.url, '/exports', { headers })))).toEqual({ 200: 5, 429: 2 });
    const posted = await ask(edge.url, '/exports', { method: 'POST', headers: { ...headers, 'x-months': '2' }, body: '{"of":"orders"}' });
    expect([posted.status, posted.json()]).toEqual([201, { accepted: { of: 'orders' } }]);
    const large = await ask(edge.url, '/exports', { method: 'POST', headers, body: `"${'x'.repeat(1_100_000)}"` });
    expect(large.status).toBe(413);
    const odd = await ask(edge.url, '/exports', { method: 'POST', headers: { ...headers, 'content-type': 'odd' }, body: 'x' });
    expect(odd.status).toBe(415);
    const malformed = await ask(edge.url, '/exports', { method: 'POST', headers, body: '{"of":' });
    expect([malformed.status, malformed.headers['content-type']]).toEqual([400, 'application/problem+json']);
  });
});
