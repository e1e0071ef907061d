import { randomBytes } from 'node:crypto';

/** Follows the frames of one direction of a WebSocket (RFC 6455 §5.2) as they pass, to know where one may be put in between. */
export class FrameWatch {
  /** Bytes of a frame's head seen so far. */
  private readonly head: number[] = [];
  private payloadLeft = 0;

  /** Between two frames. */
  get atBoundary(): boolean {
    return this.head.length === 0 && this.payloadLeft === 0;
  }

  /** @returns how many bytes of the chunk belong to frames seen so far: all, or those up to the next boundary if that is asked for */
  pass(chunk: Buffer, stopAtBoundary = false): number {
    let at = 0;
    while (at < chunk.length) {
      if (stopAtBoundary && this.atBoundary) return at;
      if (this.payloadLeft > 0) {
        const step = Math.min(this.payloadLeft, chunk.length - at);
        this.payloadLeft -= step;
        at += step;
        continue;
      }
      this.head.push(chunk[at] as number);
      at += 1;
      const size = payloadSize(this.head);
      if (size === undefined) continue;
      this.payloadLeft = size;
      this.head.length = 0;
    }
    return at;
  }
}

/** The payload's length once the head is whole; undefined before. */
function payloadSize(head: readonly number[]): number | undefined {
  const second = head[1];
  if (second === undefined) return undefined;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskBytes = (second & 0x80) === 0 ? 0 : 4;
  if (head.length < 2 + lengthBytes + maskBytes) return undefined;
  if (lengthBytes === 0) return short;
  let size = 0;
  for (const byte of head.slice(2, 2 + lengthBytes)) size = size * 256 + byte;
  return size;
}

/** A Close frame (RFC 6455 §5.5.1) with a status; masked as clients must. */
export function closeFrame(status: number, masked: boolean): Buffer {
  const payload = Buffer.from([status >> 8, status & 0xff]);
  if (!masked) return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
  const key = randomBytes(4);
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length]), key, payload.map((byte, i) => byte ^ (key[i % 4] as number))]);
}
