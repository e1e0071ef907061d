/** Matches a method and a canonical path to the most specific of many patterns; pure. */

export interface Pattern {
  readonly methods: readonly string[] | undefined;
  /** Segments: literal, `:name` (one segment), and as the last one `*` (whatever follows, also nothing). */
  readonly path: string;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  /** Ends here. */
  readonly ends: Entry<T>[];
  /** Ends in `*` here. */
  readonly rests: Entry<T>[];
}

interface Entry<T> {
  readonly methods: ReadonlySet<string> | undefined;
  readonly value: T;
}

const makeNode = <T>(): Node<T> => ({ literals: new Map(), parameter: undefined, ends: [], rests: [] });

/** A literal segment beats `:name`, which beats `*`, from left to right; with methods beats without. The order of adding never matters. */
export class Matcher<T extends Pattern> {
  private readonly root = makeNode<T>();

  constructor(patterns: readonly T[]) {
    for (const pattern of patterns) this.add(pattern);
  }

  match(method: string, path: string): T | undefined {
    return find(this.root, path.split('/'), 1, method)?.value;
  }

  private add(value: T): void {
    let node = this.root;
    const segments = value.path.split('/').slice(1);
    const rest = segments.at(-1) === '*';
    for (const segment of rest ? segments.slice(0, -1) : segments) {
      if (segment.startsWith(':')) node = node.parameter ??= makeNode<T>();
      else node = getOrMake(node.literals, segment);
    }
    const entries = rest ? node.rests : node.ends;
    const entry = { methods: value.methods === undefined ? undefined : new Set(value.methods), value };
    if (entry.methods === undefined) entries.push(entry);
    else entries.unshift(entry);
  }
}

/** The form in which two paths are the same pattern: parameters have no names. */
export function shapeOf(path: string): string {
  return path.replace(/\/:[^/]+/g, '/:');
}

function getOrMake<T>(nodes: Map<string, Node<T>>, segment: string): Node<T> {
  let node = nodes.get(segment);
  if (node === undefined) nodes.set(segment, (node = makeNode<T>()));
  return node;
}

function find<T>(node: Node<T>, segments: readonly string[], at: number, method: string): Entry<T> | undefined {
  const segment = segments[at];
  if (segment === undefined) return takes(node.ends, method);
  const literal = node.literals.get(segment);
  const deeper =
    (literal && find(literal, segments, at + 1, method)) ??
    (segment !== '' && node.parameter ? find(node.parameter, segments, at + 1, method) : undefined);
  return deeper ?? takes(node.rests, method);
}

function takes<T>(entries: readonly Entry<T>[], method: string): Entry<T> | undefined {
  for (const entry of entries) if (entry.methods === undefined || entry.methods.has(method)) return entry;
  return undefined;
}
