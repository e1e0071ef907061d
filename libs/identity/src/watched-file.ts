import { readFileSync, statSync } from 'node:fs';

export interface WatchedFileOptions<T> {
  readonly file: string;
  /** Throws where the text cannot be used. */
  readonly parse: (text: string) => T;
  /** Told once for each content that could not be used; the last good one stays. */
  readonly onBad: (problem: string) => void;
  readonly onChange?: (value: T) => void;
}

const POLL_MS = 1000;

/**
 * A file's parsed content, read again within a second or so of any change. Looks at the file instead of listening for events: that works
 * for files that are replaced, linked or mounted. A bad or half-written file never replaces a good one.
 */
export class WatchedFile<T> {
  private value: T;
  private seen: string;
  private readonly timer: NodeJS.Timeout;

  /** @throws what `parse` throws, or the error of reading: a first content must be good */
  constructor(private readonly options: WatchedFileOptions<T>) {
    this.seen = stamp(options.file);
    this.value = options.parse(readFileSync(options.file, 'utf8'));
    this.timer = setInterval(() => {
      this.look();
    }, POLL_MS).unref();
  }

  get current(): T {
    return this.value;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const { file, parse, onBad, onChange } = this.options;
    const now = stamp(file);
    if (now === this.seen) return;
    this.seen = now;
    try {
      this.value = parse(readFileSync(file, 'utf8'));
      onChange?.(this.value);
    } catch (error) {
      onBad(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Differs whenever the content may. */
function stamp(file: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
