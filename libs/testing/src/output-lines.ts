import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** How much of a long output an error quotes. */
const QUOTED_LINES = 60;

/** What a child process has printed so far, line by line; standard output and error are kept together, in order of arrival. */
export class OutputLines {
  readonly all: string[] = [];
  private readonly listeners = new Set<(line: string) => void>();

  constructor(...streams: readonly Readable[]) {
    for (const stream of streams) createInterface({ input: stream }).on('line', this.add);
  }

  /** Calls back for each later line until the returned function is called. */
  onLine(listener: (line: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The end of the output, to be put into an error's message. */
  quote(): string {
    const left = this.all.length - QUOTED_LINES;
    const lines = left > 0 ? [`(${left} lines before)`, ...this.all.slice(left)] : this.all;
    return lines.length === 0 ? '  (it printed nothing)' : lines.map((line) => `  | ${line}`).join('\n');
  }

  private readonly add = (line: string): void => {
    this.all.push(line);
    for (const listener of [...this.listeners]) listener(line);
  };
}
