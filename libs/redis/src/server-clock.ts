/**
 * An estimate of the server's clock from the times that its replies carry. A reply's time lies between sending and
 * receiving, so each sample bounds the offset to our monotonic clock from both sides; the estimate moves only as far as a
 * sample forces it. That makes it as exact as the fastest round trip seen, and a step of the server's clock, or a failover
 * to a server whose clock differs, is followed by the next reply. All times in µs.
 */
export class ServerClock {
  private offsetUs: number | undefined;

  get known(): boolean {
    return this.offsetUs !== undefined;
  }

  sample(serverUs: number, sentAtUs: number, receivedAtUs: number): void {
    const least = serverUs - receivedAtUs;
    const most = serverUs - sentAtUs;
    this.offsetUs = Math.min(Math.max(this.offsetUs ?? least, least), most);
  }

  /** @throws Error before the first sample. */
  at(monotonicUs: number): number {
    if (this.offsetUs === undefined) throw new Error('the server has not told its time yet');
    return monotonicUs + this.offsetUs;
  }
}
