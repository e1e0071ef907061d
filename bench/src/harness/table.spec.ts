import { describe, expect, it } from '@jest/globals';
import { markdownTable } from './table.js';

describe('markdownTable', () => {
  it('lines columns up, names to the left and numbers to the right', () => {
    expect(
      markdownTable(
        ['what', 'req/s'],
        [
          ['memory', '9'],
          ['r', '12345'],
        ],
      ),
    ).toBe(['| what   | req/s |', '| ------ | ----: |', '| memory |     9 |', '| r      | 12345 |'].join('\n'));
  });
});
