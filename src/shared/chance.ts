import { randomUUID as newUuid } from 'node:crypto';

/** The chance of this process: jitter and ids. A simulation replaces it. Secrets come from `node:crypto` alone. */
export interface Chance {
  /** From 0 to 1, 1 excluded. */
  readonly random: () => number;
  /** Returns a UUID of version 4. */
  readonly randomUuid: () => string;
}

const machineChance: Chance = { random: Math.random, randomUuid: () => newUuid() };

let used = machineChance;

/** The chance that everything uses: that of the machine, unless a simulation has replaced it. */
export const chance: Chance = {
  random: () => used.random(),
  randomUuid: () => used.randomUuid(),
};

/** Replaces the chance. Only for a simulation. @returns a function that puts the machine's back */
export function replaceChance(by: Chance): () => void {
  used = by;
  return () => {
    used = machineChance;
  };
}
