const HEAD_END = '\r\n\r\n';

/** Tells where HTTP/1.1 responses with a content-length end in a stream of bytes; enough for a backend that we know. */
export class ResponseCounter {
  private pending: Buffer = Buffer.alloc(0);

  /** @returns the status of each response that these bytes complete. @throws Error for a response without a content-length */
  push(chunk: Buffer): readonly number[] {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const statuses: number[] = [];
    for (;;) {
      const headEnd = this.pending.indexOf(HEAD_END);
      if (headEnd < 0) return statuses;
      const head = this.pending.toString('latin1', 0, headEnd);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      if (length === undefined) throw new Error(`a response without content-length:\n${head}`);
      const end = headEnd + HEAD_END.length + Number(length);
      if (this.pending.length < end) return statuses;
      statuses.push(Number(head.slice(9, 12)));
      this.pending = this.pending.subarray(end);
    }
  }
}
