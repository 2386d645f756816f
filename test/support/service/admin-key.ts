/** The first admin key of every service that tests and benchmarks start, unless they ask for none. */
export const adminKey = `sy_live_${'abcdefgh12'.repeat(4)}`;
