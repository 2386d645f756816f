import { randomUUID as newUuid } from 'node:crypto';

/** Jitter and ids. A simulation replaces it. Secrets come from `node:crypto` alone. */
export interface Chance {
  /** From 0 to 1, 1 excluded. */
  readonly random: () => number;
  /** Version 4. */
  readonly randomUuid: () => string;
}

const machineChance: Chance = { random: Math.random, randomUuid: () => newUuid() };

let used = machineChance;

/** That of the machine, unless a simulation has replaced it. */
export const chance: Chance = {
  random: () => used.random(),
  randomUuid: () => used.randomUuid(),
};

/** Only for a simulation. @returns a function that restores the machine's */
export function replaceChance(by: Chance): () => void {
  used = by;
  return () => {
    used = machineChance;
  };
}
