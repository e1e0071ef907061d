/** One thing that is wrong with a document. */
export interface Problem {
  readonly file: string;
  readonly line?: number | undefined;
  /** Inside the document, e.g. `routes[2].criticality`; empty for the whole. */
  readonly path: string;
  /** As written, shortened; undefined where something is missing. */
  readonly found?: string | undefined;
  readonly allowed: string;
}

/** A document that cannot be used. The message lists every problem, one per line. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';

  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(describe).join('\n'));
  }
}

function describe({ file, line, path, found, allowed }: Problem): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return `${place}: ${path === '' ? '' : `${path}: `}${found === undefined ? 'missing' : `found ${found}`}; allowed: ${allowed}`;
}

const MAX_SHOWN = 60;

/** A found value in one short line; undefined where nothing was found. */
export function show(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
