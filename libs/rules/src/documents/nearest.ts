/** The name that a misspelt one most likely means: at most two letters off, one where it is short. */
export function nearest(names: readonly string[], misspelt: string): string | undefined {
  const [first] = names
    .map((name) => ({ name, changes: changesBetween(name.toLowerCase(), misspelt.toLowerCase()) }))
    .filter(({ name, changes }) => changes <= (name.length < 5 ? 1 : 2))
    .sort((a, b) => a.changes - b.changes);
  return first?.name;
}

/** How many letters must be added, left out or changed (Levenshtein). */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
