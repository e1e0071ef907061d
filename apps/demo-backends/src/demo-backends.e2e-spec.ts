import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnNode } from '#libs/testing';
import type { SearchAnswer } from './search.controller.js';
import { startDemoBackends, type DemoBackends } from './start-demo-backends.js';

describe('the demo backends', () => {
  let backends: DemoBackends;
  beforeAll(async () => {
    backends = await startDemoBackends({ ordersPort: 0, searchPort: 0, searchSlots: 2, searchService: { minMs: 20, maxMs: 20 } });
  });
  afterAll(() => backends.close());

  it('list orders and find one', async () => {
    const list = await fetch(`${backends.ordersUrl}/orders`);
    expect([list.status, list.headers.get('x-backend')]).toEqual([200, 'orders']);
    expect(await list.json()).toMatchObject({ orders: [{ id: '1' }, { id: '2' }, { id: '3' }] });
    const one = await fetch(`${backends.ordersUrl}/orders/2`);
    expect(await one.json()).toMatchObject({ order: { id: '2', item: 'paddle gear' } });
    expect((await fetch(`${backends.ordersUrl}/orders/99`)).status).toBe(404);
  });

  it('show what arrived', async () => {
    const headers = { 'x-request-id': 'r-1', 'x-forwarded-for': '192.0.2.1, 192.0.2.2' };
    const response = await fetch(`${backends.ordersUrl}/orders/1?full=yes`, { headers });
    expect(await response.json()).toMatchObject({
      arrived: { method: 'GET', path: '/orders/1?full=yes', bodyBytes: 0, requestId: 'r-1', forwardedFor: '192.0.2.1, 192.0.2.2' },
    });
  });

  it.each(['application/json', 'text/csv', 'application/x-www-form-urlencoded'])('take an order of any form: %s', async (type) => {
    const order = await fetch(`${backends.ordersUrl}/orders`, { method: 'POST', body: '{not quite', headers: { 'content-type': type } });
    expect(order.status).toBe(201);
    expect(await order.json()).toMatchObject({ order: { status: 'accepted' }, arrived: { method: 'POST', bodyBytes: 10 } });
  });

  it('answer a login', async () => {
    const login = await fetch(`${backends.ordersUrl}/login`, { method: 'POST' });
    expect([login.status, await login.json()]).toMatchObject([200, { welcome: false, arrived: { path: '/login' } }]);
  });

  it('search with as many slots as they have; the rest waits', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (q) => (await (await fetch(`${backends.searchUrl}/search?q=${q}`)).json()) as SearchAnswer),
    );
    expect(answers.map((answer) => answer.q)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(new Set(answers.map((answer) => answer.slot))).toEqual(new Set([0, 1]));
    expect(answers.every((answer) => answer.serviceMs === 20)).toBe(true);
  });

  it('leave neither running when one port is taken', async () => {
    const searchPort = Number(new URL(backends.searchUrl).port);
    await expect(startDemoBackends({ ordersPort: 0, searchPort })).rejects.toThrow(/EADDRINUSE/);
  });
});

describe('the demo backends as a process', () => {
  const script = 'dist/apps/demo-backends/src/main.js';

  it('start from the environment alone and stop on SIGTERM', async () => {
    const child = spawnNode(script, { env: { ORDERS_PORT: '0', SEARCH_PORT: '0', SEARCH_SERVICE_MS: '1' } });
    const [, ordersUrl, searchUrl] = await child.waitForLine(/orders on (\S+), search on (\S+)/);
    expect((await fetch(`${ordersUrl ?? ''}/orders`)).status).toBe(200);
    expect(await (await fetch(`${searchUrl ?? ''}/search?q=x`)).json()).toMatchObject({ q: 'x', serviceMs: 1 });
    expect(await child.stop()).toBe(0);
  });

  it('refuse an environment that makes no sense', async () => {
    const child = spawnNode(script, { env: { SEARCH_SLOTS: 'many' } });
    expect(await child.exited).toBe(1);
    expect(child.lines.join('\n')).toContain('SEARCH_SLOTS: allowed: a whole number, 1 to 1000');
  });
});
