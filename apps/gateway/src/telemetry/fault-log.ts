import { Logger } from '@nestjs/common';
import type { StoreFault } from '#libs/rate-limiter';

/** Store faults, one line per kind and second with a count: a sick store must not flood the log as well. */
export class FaultLog {
  private readonly logger = new Logger('Store');
  private counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  note(fault: StoreFault): void {
    const kind = fault.code === undefined ? fault.kind : `${fault.kind} ${fault.code}`;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.timer ??= setTimeout(() => {
      this.flush();
    }, 1000).unref();
  }

  private flush(): void {
    this.timer = undefined;
    const { counts } = this;
    this.counts = new Map();
    for (const [fault, count] of counts) this.logger.warn('no answer from the store; failure modes decided', { fault, count });
  }
}
