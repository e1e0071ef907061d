import { describe, expect, it } from '@jest/globals';
import { waitFor } from './wait-for.js';

describe('waitFor', () => {
  it('returns the first truthy value', async () => {
    const values = [undefined, '', 0, 'there'];
    expect(await waitFor(() => values.shift(), { what: 'a value', intervalMs: 1 })).toBe('there');
  });

  it('takes a condition that throws as "not yet"', async () => {
    let looks = 0;
    const condition = () => {
      if (++looks < 3) throw new Error('refused');
      return Promise.resolve(looks);
    };
    expect(await waitFor(condition, { what: 'no refusal', intervalMs: 1 })).toBe(3);
  });

  it('fails with what was awaited, and with the last error as the cause', async () => {
    const cause = new Error('refused');
    const waiting = waitFor(() => Promise.reject(cause), { what: 'the server answers', timeoutMs: 0 });
    await expect(waiting).rejects.toMatchObject({ message: 'waited 0 ms in vain: the server answers', cause });
  });
});
