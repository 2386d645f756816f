import { distance } from 'fastest-levenshtein';
import type { Environment } from '#app/environment.ts';

/** A variable that the service does not read, with the variable that it resembles. */
export interface MisspeltVariable {
  readonly variable: string;
  readonly resembles: string;
}

/** Shorter names resemble too many variables of other programs. */
const minLength = 7;
/** Maximum number of letters that are added, left out or changed. */
const maxDifferences = 2;

/** Also records variables that are not set. */
export function recordReads(environment: Environment, names: Set<string>): Environment {
  return new Proxy(environment, {
    get: (variables, name) => {
      if (typeof name !== 'string') return undefined;
      names.add(name);
      return variables[name];
    },
  });
}

/**
 * Finds variables that are set and not read, and their names resemble one that is read.
 * @param known the names that are read
 */
export function findMisspelt(environment: Environment, known: ReadonlySet<string>): ReadonlyArray<MisspeltVariable> {
  const unread = Object.keys(environment).filter((name) => name.length >= minLength && !known.has(name));
  return unread.flatMap((variable) => {
    const name = [...known].find((each) => isAlmost(variable.toUpperCase(), each));
    return name === undefined ? [] : [{ variable, resembles: name }];
  });
}

function isAlmost(one: string, other: string): boolean {
  if (other.length < minLength || Math.abs(one.length - other.length) > maxDifferences) return false;
  return distance(one, other) <= maxDifferences;
}
