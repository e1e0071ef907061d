import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Decision } from '#libs/admission';
import { RefusalLog } from './refusal-log.js';

const refused = (tenant: string | undefined, policy: string): Decision =>
  ({
    outcome: 'limited',
    route: { name: 'search' },
    subject: { tenant, ip: '203.0.113.7' },
    policies: [{ applied: { policy, shadow: false }, verdict: 'refused' }],
  }) as unknown as Decision;

describe('RefusalLog', () => {
  const lines: Record<string, unknown>[] = [];
  beforeEach(() => {
    lines.length = 0;
    Logger.overrideLogger({
      log: () => undefined,
      error: () => undefined,
      warn: (_message: string, fields: Record<string, unknown>) => lines.push(fields),
    });
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });

  it('writes one line per caller and policy, with a count', () => {
    const log = new RefusalLog();
    for (let i = 0; i < 100; i += 1) log.note(refused('acme', 'requests'));
    log.note(refused('acme', 'daily'));
    log.note(refused(undefined, 'per-address'));
    log.onApplicationShutdown();
    expect(lines).toEqual([
      { caller: 'tenant acme', policy: 'requests', route: 'search', outcome: 'limited', count: 100 },
      { caller: 'tenant acme', policy: 'daily', route: 'search', outcome: 'limited', count: 1 },
      { caller: 'ip 203.0.113.7', policy: 'per-address', route: 'search', outcome: 'limited', count: 1 },
    ]);
  });

  it('is bounded: beyond a thousand callers in a second the rest share a line', () => {
    const log = new RefusalLog();
    for (let i = 0; i < 1500; i += 1) log.note(refused(`t${i}`, 'requests'));
    log.onApplicationShutdown();
    expect(lines).toHaveLength(1001);
    expect(lines.at(-1)).toMatchObject({ caller: 'others', count: 500 });
  });
});
