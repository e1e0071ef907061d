import { describe, expect, it } from '@jest/globals';
import { EnvError, toDemoBackendsEnv } from './demo-backends.env.js';

describe('toDemoBackendsEnv', () => {
  it('has a default for everything', () => {
    const defaults = {
      HOST: '127.0.0.1',
      ORDERS_PORT: 9101,
      SEARCH_PORT: 9102,
      SEARCH_SLOTS: 8,
      SEARCH_SERVICE_MS: { minMs: 20, maxMs: 60 },
    };
    expect(toDemoBackendsEnv({})).toMatchObject(defaults);
    expect(toDemoBackendsEnv({ HOST: '', SEARCH_SLOTS: '' })).toMatchObject(defaults);
  });

  it('takes what is given and leaves the rest of the environment alone', () => {
    const env = toDemoBackendsEnv({ HOST: '0.0.0.0', ORDERS_PORT: '0', SEARCH_SLOTS: '2', SEARCH_SERVICE_MS: '5', PATH: '/bin' });
    expect(env).toMatchObject({ HOST: '0.0.0.0', ORDERS_PORT: 0, SEARCH_SLOTS: 2, SEARCH_SERVICE_MS: { minMs: 5, maxMs: 5 } });
    expect(env).not.toHaveProperty('PATH');
  });

  it.each([
    ['ORDERS_PORT', '65536'],
    ['ORDERS_PORT', '80a'],
    ['SEARCH_PORT', '-1'],
    ['SEARCH_SLOTS', '0'],
    ['SEARCH_SLOTS', '1.5'],
    ['SEARCH_SERVICE_MS', '60-20'],
  ])('refuses %s=%s, naming the variable and what is allowed', (name, value) => {
    const reading = () => toDemoBackendsEnv({ [name]: value });
    expect(reading).toThrow(EnvError);
    expect(reading).toThrow(new RegExp(`${name}: allowed: .+`));
  });
});
