import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as ws from 'ws';
import { FrameWatch, closeFrame } from './websocket-frames.js';

interface Sent {
  readonly size: number;
  readonly opcode: number;
  readonly mask: boolean;
  readonly fin: boolean;
}

/** Its types leave it out. */
const { Sender } = ws as unknown as { readonly Sender: { frame(data: Buffer, how: object): Buffer[] } };

/** As the library that most servers use writes it. */
function frame({ size, opcode, mask, fin }: Sent): Buffer {
  const options = { fin, opcode, mask, rsv1: false, readOnly: false };
  return Buffer.concat(Sender.frame(Buffer.alloc(size, 0x88), options));
}

const sizes = fc.oneof(fc.nat(130), fc.constantFrom(0, 125, 126, 127, 65_535, 65_536), fc.nat(70_000));
const frames = fc.array(fc.record({ size: sizes, opcode: fc.constantFrom(0, 1, 2, 9, 10), mask: fc.boolean(), fin: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});

describe('the watch over frames', () => {
  it('finds every boundary, and no other, however the bytes are cut', () => {
    fc.assert(
      fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 9000 })), (sent, cuts) => {
        const wires = sent.map(frame);
        const boundaries: number[] = [];
        wires.reduce((at, wire) => (boundaries.push(at + wire.length), at + wire.length), 0);
        const bytes = Buffer.concat(wires);
        const watch = new FrameWatch();
        for (let at = 0; at < bytes.length;) {
          const chunk = bytes.subarray(at, at + (cuts.next().value as number));
          expect(watch.pass(chunk)).toBe(chunk.length);
          at += chunk.length;
          expect(watch.atBoundary).toBe(boundaries.includes(at));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('asked to stop, it stops at the next boundary: there a frame may be put in', () => {
    fc.assert(
      fc.property(frames, fc.nat(), (sent, seed) => {
        const wires = sent.map(frame);
        const bytes = Buffer.concat(wires);
        const from = seed % bytes.length;
        let next = 0;
        for (const wire of wires) if (next < from) next += wire.length;
        const watch = new FrameWatch();
        watch.pass(bytes.subarray(0, from));
        expect(from + watch.pass(bytes.subarray(from), true)).toBe(next);
        expect(watch.atBoundary).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('a Close frame is a whole frame with its status', () => {
    for (const masked of [false, true]) {
      const close = closeFrame(1001, masked);
      const watch = new FrameWatch();
      expect([watch.pass(close, false), watch.atBoundary]).toEqual([close.length, true]);
      const key = masked ? close.subarray(2, 6) : Buffer.alloc(4);
      const payload = close.subarray(masked ? 6 : 2).map((byte, i) => byte ^ (key[i] as number));
      expect([close[0], Buffer.from(payload).readUInt16BE()]).toEqual([0x88, 1001]);
    }
  });
});
