import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import { answerAfter, answerJson, drip, failWith, resetConnection } from './backend-handlers.js';
import { startBackend, type Backend } from './backend.js';
import { waitFor } from './wait-for.js';

describe('startBackend', () => {
  let backend: Backend;
  beforeEach(async () => {
    backend = await startBackend();
  });
  afterEach(() => backend.close());

  it('records what arrives', async () => {
    const body = 'ä'.repeat(1000);
    const response = await fetch(`${backend.url}/a//b?c=%20`, { method: 'POST', body, headers: { 'X-Some': 'thing' } });
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
    expect(backend.requests).toHaveLength(1);
    expect(backend.requests[0]).toMatchObject({
      method: 'POST',
      url: '/a//b?c=%20',
      bodyBytes: 2000,
      bodyText: body,
      complete: true,
      aborted: false,
    });
    expect(backend.requests[0]?.headers['x-some']).toBe('thing');
  });

  it('shows repeated fields as they were sent', async () => {
    await new Promise((resolve) => {
      request(`${backend.url}/`, { headers: ['X-A', '1', 'x-a', '2', 'Host', 'h'] }, (response) =>
        response.resume().on('end', resolve),
      ).end();
    });
    expect(backend.requests[0]?.rawHeaders.slice(0, 4)).toEqual(['X-A', '1', 'x-a', '2']);
  });

  it('answers late, fails and drips on demand', async () => {
    backend.handleWith(answerAfter(20, answerJson({ slow: 1 }, 201, { 'x-y': 'z' })));
    const late = await fetch(backend.url);
    expect([late.status, late.headers.get('x-y'), await late.json()]).toEqual([201, 'z', { slow: 1 }]);
    backend.handleWith(failWith(503));
    expect((await fetch(backend.url)).status).toBe(503);
    backend.handleWith(drip(['one ', 'two'], 5));
    expect(await (await fetch(backend.url)).text()).toBe('one two');
  });

  it('resets the connection before or in the middle of an answer', async () => {
    backend.handleWith(resetConnection());
    await expect(fetch(backend.url)).rejects.toThrow();
    backend.handleWith(resetConnection(10));
    const cut = await fetch(backend.url);
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow();
  });

  it('notices a caller that leaves, and forgets on demand', async () => {
    backend.handleWith(() => undefined);
    const caller = new AbortController();
    const going = fetch(backend.url, { signal: caller.signal });
    await waitFor(() => backend.requests.length === 1, { what: 'the request arrives' });
    expect(backend.requests[0]?.aborted).toBe(false);
    caller.abort();
    await expect(going).rejects.toThrow();
    await waitFor(() => backend.requests[0]?.aborted, { what: 'the abort arrives' });
    backend.forget();
    expect(backend.requests).toEqual([]);
  });
});
