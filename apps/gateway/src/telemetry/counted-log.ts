import { Logger } from '@nestjs/common';

type Fields = Readonly<Record<string, string>>;

/** Faults of one kind, one line per set of fields and second with a count: what is sick must not flood the log as well. */
export class CountedLog {
  private readonly logger: Logger;
  private lines = new Map<string, { readonly fields: Fields; count: number }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    context: string,
    private readonly message: string,
  ) {
    this.logger = new Logger(context);
  }

  /**
   * @param fields from few values: they tell lines apart
   * @param first of the first of those counted, for an example
   */
  note(fields: Fields, first: Fields = {}): void {
    const key = Object.values(fields).join(' ');
    const line = this.lines.get(key);
    if (line === undefined) this.lines.set(key, { fields: { ...fields, ...first }, count: 1 });
    else line.count += 1;
    this.timer ??= setTimeout(() => {
      this.flush();
    }, 1000).unref();
  }

  private flush(): void {
    this.timer = undefined;
    const { lines } = this;
    this.lines = new Map();
    for (const { fields, count } of lines.values()) this.logger.warn(this.message, { ...fields, count });
  }
}
