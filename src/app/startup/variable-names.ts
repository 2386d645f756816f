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
  return differences(one, other) <= maxDifferences;
}

/** Levenshtein's distance. */
function differences(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, wanted] of [...other].entries()) {
      const [left = 0, above = 0, before = 0] = [next[at], row[at + 1], row[at]];
      next.push(Math.min(left + 1, above + 1, before + (letter === wanted ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
