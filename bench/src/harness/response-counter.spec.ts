import { describe, expect, it } from '@jest/globals';
import { ResponseCounter } from './response-counter.js';

const one = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const two = 'HTTP/1.1 429 Too Many Requests\r\nx: y\r\ncontent-length: 0\r\n\r\n';

describe('ResponseCounter', () => {
  it('finds responses however the bytes are cut', () => {
    const bytes = Buffer.from(one + two + one);
    for (let size = 1; size <= bytes.length; size += 7) {
      const counter = new ResponseCounter();
      const found: number[] = [];
      for (let at = 0; at < bytes.length; at += size) found.push(...counter.push(bytes.subarray(at, at + size)));
      expect(found).toEqual([200, 429, 200]);
    }
  });

  it('does not guess where a response without a length ends', () => {
    expect(() => new ResponseCounter().push(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'))).toThrow(
      'without content-length',
    );
  });
});
