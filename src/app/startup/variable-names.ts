import { distance } from 'fastest-levenshtein';
import type { Environment } from '#app/environment.ts';

/** A variable that nobody reads, and the one that it resembles. */
export interface MisspeltVariable {
  readonly variable: string;
  readonly resembles: string;
}

/** Shorter names resemble too many of other programs. */
const minLength = 7;
/** Letters that are added, left out or changed. */
const maxDifferences = 2;

/** An environment that writes down which variables are read from it, set or not. */
export function recordReads(environment: Environment, names: Set<string>): Environment {
  return new Proxy(environment, {
    get: (variables, name) => {
      if (typeof name !== 'string') return undefined;
      names.add(name);
      return variables[name];
    },
  });
}

/** The variables that are set, not read, and named almost as one that is. @param known the names that are read */
export function findMisspelt(environment: Environment, known: ReadonlySet<string>): ReadonlyArray<MisspeltVariable> {
  const unread = Object.keys(environment).filter((name) => name.length >= minLength && !known.has(name));
  return unread.flatMap((variable) => {
    const resembles = [...known].find((name) => isAlmost(variable.toUpperCase(), name));
    return resembles === undefined ? [] : [{ variable, resembles }];
  });
}

function isAlmost(one: string, other: string): boolean {
  if (other.length < minLength || Math.abs(one.length - other.length) > maxDifferences) return false;
  return distance(one, other) <= maxDifferences;
}
