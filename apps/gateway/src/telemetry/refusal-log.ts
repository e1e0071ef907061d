import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isViolated, type Decision } from '#libs/admission';

interface Line {
  readonly caller: string;
  readonly policy: string;
  readonly route: string;
  readonly outcome: string;
  count: number;
}

/** Beyond so many callers and policies within a second, the rest share one line. */
const MAX_LINES_PER_SECOND = 1000;

/** Refusals, one line per caller, policy and second, with a count: a flood costs lines by its callers, not by its requests. */
@Injectable()
export class RefusalLog implements OnApplicationShutdown {
  private readonly logger = new Logger('Refusals');
  private lines = new Map<string, Line>();
  private timer: NodeJS.Timeout | undefined;

  note(decision: Decision): void {
    const { subject, route, outcome } = decision;
    const caller = subject.tenant === undefined ? `ip ${subject.ip}` : `tenant ${subject.tenant}`;
    const policy = decision.policies.find(isViolated)?.applied.policy ?? 'none';
    const key = `${caller} ${policy}`;
    const line = this.lines.get(key);
    if (line !== undefined) line.count += 1;
    else if (this.lines.size < MAX_LINES_PER_SECOND) this.lines.set(key, { caller, policy, route: route.name, outcome, count: 1 });
    else this.noteOther(policy, route.name, outcome);
    this.timer ??= setTimeout(() => {
      this.flush();
    }, 1000).unref();
  }

  onApplicationShutdown(): void {
    this.flush();
  }

  private noteOther(policy: string, route: string, outcome: string): void {
    const other = this.lines.get('others') ?? { caller: 'others', policy, route, outcome, count: 0 };
    other.count += 1;
    this.lines.set('others', other);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { lines } = this;
    this.lines = new Map();
    for (const line of lines.values()) this.logger.warn('refused', { ...line });
  }
}
