/** Seeds whose worlds have shown a fault, with what it was. */
export const keptSeeds: ReadonlyArray<{ readonly seed: number; readonly showed: string }> = [];
