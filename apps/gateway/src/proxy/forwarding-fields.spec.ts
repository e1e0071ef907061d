import { describe, expect, it } from '@jest/globals';
import { passedUsBefore } from './forwarding-fields.js';

describe('passedUsBefore', () => {
  it.each([
    [undefined, false],
    ['1.1 other', false],
    ['1.1 edge-a2, 1.0 my-edge-a', false],
    ['1.1 other (edge-a)', false],
    ['edge-a other', false],
    ['1.1 edge-a', true],
    ['HTTP/2 other , 1.1  edge-a (a comment)', true],
    ['1.1 Edge-A', true],
  ])('reads Via: %s is %s', (via, passed) => {
    expect(passedUsBefore(via, 'edge-a')).toBe(passed);
  });
});
