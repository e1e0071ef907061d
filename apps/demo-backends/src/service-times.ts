/** How long one search takes, in whole ms; both ends included. */
export interface ServiceRange {
  readonly minMs: number;
  readonly maxMs: number;
}

/** `20-60`, or `40` for always the same. @returns undefined for anything else. */
export function parseServiceRange(text: string): ServiceRange | undefined {
  const [, min, max = min] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  if (min === undefined || max === undefined || Number(min) > Number(max)) return undefined;
  return { minMs: Number(min), maxMs: Number(max) };
}

/** Endless service times, the same for the same seed: mulberry32, a 32-bit generator, is plenty for a demo. */
export function serviceTimes({ minMs, maxMs }: ServiceRange, seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const unit = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return minMs + Math.floor(unit * (maxMs - minMs + 1));
  };
}
