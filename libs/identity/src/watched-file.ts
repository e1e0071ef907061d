import { readFileSync, statSync } from 'node:fs';

export interface WatchedFileOptions<T> {
  readonly file: string;
  /** Throws where the text cannot be used. */
  readonly parse: (text: string) => T;
  /** Told once for each content that could not be used; the last good one stays. */
  readonly onBad: (problem: string) => void;
  readonly onChange?: (value: T) => void;
}

/** A change is taken at the second look that finds the file the same: within a second or so. */
const POLL_MS = 500;

/**
 * A file's parsed content, read again when it changes. Looks at the file instead of listening for events: that works for files that are
 * replaced, linked or mounted. A file that is still being written is left to settle; one that is bad or gone never replaces a good one.
 */
export class WatchedFile<T> {
  private value: T;
  private taken: string;
  private lastSeen: string;
  private lastBad: string | undefined;
  private badContents = 0;
  private readonly timer: NodeJS.Timeout;

  /** @throws what `parse` throws, or the error of reading: a first content must be good */
  constructor(private readonly options: WatchedFileOptions<T>) {
    this.taken = this.lastSeen = stamp(options.file);
    this.value = options.parse(readFileSync(options.file, 'utf8'));
    this.timer = setInterval(() => {
      this.look();
    }, POLL_MS).unref();
  }

  get current(): T {
    return this.value;
  }

  /** How many contents could not be used. */
  get bad(): number {
    return this.badContents;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const now = stamp(this.options.file);
    const settled = now === this.lastSeen;
    this.lastSeen = now;
    if (!settled || now === this.taken) return;
    this.taken = now;
    this.take();
  }

  private take(): void {
    const { file, parse, onBad, onChange } = this.options;
    let content: string | undefined;
    try {
      content = readFileSync(file, 'utf8');
      this.value = parse(content);
      this.lastBad = undefined;
      onChange?.(this.value);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if ((content ?? problem) === this.lastBad) return;
      this.lastBad = content ?? problem;
      this.badContents += 1;
      onBad(problem);
    }
  }
}

/** Differs whenever the content may; `ctime` also where a copy brings its old `mtime` along. */
function stamp(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
