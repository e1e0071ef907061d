import { describe, expect, it } from '@jest/globals';
import { AddressHealth } from './address-health.js';
import { UpstreamFault } from './upstream-faults.js';

const refused = new UpstreamFault('connection_refused', true);
const unconnected = new UpstreamFault('connection_timeout', true);
const silent = new UpstreamFault('http_response_timeout');
const broken = new UpstreamFault('connection_terminated');

/** What each of these failures in a row comes to. */
const failing = (health: AddressHealth, faults: readonly UpstreamFault[], hasSpare = true) =>
  faults.map((fault) => health.failed(fault, hasSpare));

describe('AddressHealth', () => {
  it('one refusal takes it out, three attempts without a connection do, and it is probed at once', () => {
    expect(failing(new AddressHealth(), [refused])).toEqual([0]);
    expect(failing(new AddressHealth(), [unconnected, unconnected, unconnected])).toEqual([undefined, undefined, 0]);
    expect(failing(new AddressHealth(), [refused], false)).toEqual([0]);
  });

  it('five in a row that broke off or got no answer in time take it out for a second, where there is another address', () => {
    const mixed = [silent, broken, silent, broken, silent];
    expect(failing(new AddressHealth(), mixed)).toEqual([undefined, undefined, undefined, undefined, 1000]);
    const only = new AddressHealth();
    expect(failing(only, [...mixed, ...mixed], false)).toEqual(Array.from({ length: 10 }, () => undefined));
    expect(only.healthy).toBe(true);
  });

  it('an answer starts the count afresh', () => {
    const health = new AddressHealth();
    failing(health, [silent, silent, silent, silent]);
    health.answered();
    expect(failing(health, [silent])).toEqual([undefined]);
  });

  it('that it connects again is no proof: the next silence takes it out for twice as long, an answer forgives', () => {
    const health = new AddressHealth();
    failing(health, [silent, silent, silent, silent, silent]);
    for (const penalty of [2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      health.connected();
      expect(health.healthy).toBe(true);
      expect(failing(health, [broken])).toEqual([penalty]);
    }
    health.connected();
    health.answered();
    expect(failing(health, [broken])).toEqual([undefined]);
  });

  it('other faults say nothing against it', () => {
    const health = new AddressHealth();
    expect(
      failing(
        health,
        Array.from({ length: 20 }, () => new UpstreamFault('http_protocol_error')),
      ),
    ).not.toContain(1000);
    expect(health.healthy).toBe(true);
  });
});
