/** Seeds whose worlds have shown a fault, in the service or in a copy with a fault, and what it was. */
export const keptSeeds: ReadonlyArray<{ readonly seed: number; readonly showed: string }> = [
  { seed: 10, showed: 'a holder that counts on an expiry although it has sent a shorter one (in a copy)' },
  { seed: 641713816, showed: 'a message that came again with a term as its reason, but was reported' },
];
