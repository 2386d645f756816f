import { randomUUID as newUuid } from 'node:crypto';

/** A source of jitter and ids. A simulation replaces it. Secrets come from `node:crypto` alone. */
export interface Chance {
  /** A random number from 0 to 1, 1 excluded. */
  readonly random: () => number;
  /** A UUID of version 4. */
  readonly randomUuid: () => string;
}

const machineChance: Chance = { random: Math.random, randomUuid: () => newUuid() };

let used = machineChance;

/** The chance of the machine, unless a simulation has replaced it. */
export const chance: Chance = {
  random: () => used.random(),
  randomUuid: () => used.randomUuid(),
};

/** Replaces the chance, only for a simulation. @returns a function that restores the machine's */
export function replaceChance(by: Chance): () => void {
  used = by;
  return () => {
    used = machineChance;
  };
}
