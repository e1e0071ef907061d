const EVERY_MS = 60_000;

/** A warning that is told at most once a minute, however often its cause arises. */
export class RareWarning {
  private toldAtMs = -EVERY_MS;

  constructor(private readonly log: { warn(message: string): void }) {}

  warn(message: string): void {
    const nowMs = performance.now();
    if (nowMs - this.toldAtMs < EVERY_MS) return;
    this.toldAtMs = nowMs;
    this.log.warn(message);
  }
}
