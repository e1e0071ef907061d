import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnNode, type SpawnedNode } from '#libs/testing';
import { ask, tally, times } from './support/http.js';

describe('npm start', () => {
  let process: SpawnedNode;
  let url = '';
  const keys: Record<string, string> = {};
  beforeAll(async () => {
    process = spawnNode('dist/apps/standalone/src/main.js', { env: { PORT: '0', ADMIN_PORT: '0' } });
    url = (await process.waitForLine(/edge\s+(http:\S+)/))[1] ?? '';
    await process.waitForLine(/Ctrl-C/);
    for (const line of process.lines) {
      const [, tier, key] = /^\s+(\w+)\s+(esc_\w+)/.exec(line) ?? [];
      if (tier !== undefined && key !== undefined) keys[tier] = key;
    }
  });
  afterAll(async () => {
    expect(await process.stop('SIGINT')).toBe(0);
  });

  it('prints a key of each tier and three commands to try', () => {
    expect(Object.keys(keys).sort()).toEqual(['enterprise', 'free', 'pro']);
    expect(process.lines.filter((line) => line.trim().startsWith('curl') || line.trim().startsWith('seq'))).toHaveLength(3);
  });

  it('admits of 30 parallel searches with the free key 10 and 5 a second more, and the rest after Retry-After', async () => {
    const as = { headers: { 'x-api-key': keys.free ?? '' } };
    const startedAtMs = performance.now();
    const answers = await times(30, () => ask(url, '/search?q=x', as));
    const seconds = (performance.now() - startedAtMs) / 1000;
    const { 200: admitted = 0, 429: refused = 0 } = tally(answers);
    expect(admitted + refused).toBe(30);
    expect(admitted).toBeGreaterThanOrEqual(10);
    expect(admitted).toBeLessThanOrEqual(10 + Math.floor(5 * seconds));
    const one = answers.find(({ status }) => status === 429)!;
    expect(one.headers['ratelimit-policy']).toContain('"requests";q=10;w=2');
    expect(one.headers.ratelimit).toMatch(/^"requests";r=0;t=\d+$/);
    expect(one.json()['violated-policies']).toEqual(['requests']);
    await new Promise((resolve) => setTimeout(resolve, Number(one.headers['retry-after']) * 1000));
    expect((await ask(url, '/search?q=x', as)).status).toBe(200);
  });

  it('serves orders to anonymous callers and asks for a credential to search', async () => {
    expect((await ask(url, '/orders/1')).status).toBe(200);
    expect((await ask(url, '/search?q=x')).status).toBe(401);
  });
});
