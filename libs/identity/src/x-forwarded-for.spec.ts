import { expect, it } from '@jest/globals';
import { xForwardedFor } from './x-forwarded-for.js';

it.each<[string, (string | undefined)[]]>([
  ['1.2.3.4', ['1.2.3.4']],
  ['1.2.3.4,\t5.6.7.8 ', ['5.6.7.8', '1.2.3.4']],
  [',1.2.3.4,', [undefined, '1.2.3.4', undefined]],
  ['', [undefined]],
  ['1.2.3.4:80, [2001:db8::1]:443, [2001:db8::2], 2001:db8::3', ['2001:db8::3', '2001:db8::2', '2001:db8::1', '1.2.3.4']],
  ['fe80::1%eth0.100, [fe80::2%1]', ['fe80::2%1', 'fe80::1%eth0.100']],
  ['[1.2.3.4], 1.2.3.4%eth0, 1.2.3.4:, 1.2.3.4:http, [::1, ::1], [::1]x, "1.2.3.4"', Array<undefined>(8).fill(undefined)],
])('KEY-03: X-Forwarded-For %j from the right', (text, addresses) => {
  expect([...xForwardedFor(text)]).toEqual(addresses);
});
