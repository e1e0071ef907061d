import { DocumentError, type Problem } from './problem.js';
import type { YamlFile } from './read-yaml.js';

/** From the root of a document to one of its parts. */
export type Path = readonly (string | number)[];

/** Collects what is wrong with one document. */
export class Findings {
  readonly problems: Problem[] = [];
  private readonly paths = new Set<string>();

  constructor(private readonly source: Pick<YamlFile, 'file' | 'lineOf'>) {}

  add(path: Path, found: string | undefined, allowed: string): void {
    const text = pathText(path);
    this.paths.add(text);
    this.problems.push({ file: this.source.file, line: this.source.lineOf(path), path: text, found, allowed });
  }

  /** Whether something is known to be wrong at this place already. */
  has(path: Path): boolean {
    return this.paths.has(pathText(path));
  }

  /** @throws DocumentError where anything was found, in the order of the file. */
  throwIfAny(): void {
    if (this.problems.length > 0) throw new DocumentError(this.problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)));
  }
}

/** E.g. `routes[2].criticality`. */
export function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}
