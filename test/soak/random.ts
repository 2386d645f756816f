/** A seeded random number generator (mulberry32). @returns a function that returns numbers from 0 to 1, 1 excluded */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks one of several kinds at random, by their weights. */
export function pickWeighted<Kind>(weighted: ReadonlyArray<readonly [number, Kind]>, random: () => number): Kind {
  let point = random() * weighted.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, kind] of weighted) {
    point -= weight;
    if (point < 0) return kind;
  }
  throw new Error('there is nothing to pick from');
}
