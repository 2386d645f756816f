import type { InputError } from '#domain/shared/failure.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

/**
 * Finds names that differ only in case from a resolved one. The gateway replaces `model` by the name in the catalogue.
 * A provider that ignores case would read `Model` instead, which the catalogue has not checked.
 * @param names the names of a request's members or parts
 * @param resolved the names, in lower case, whose values the gateway resolves
 * @returns a fault for each spelling, once
 */
export function spellingFaults(names: Iterable<string>, resolved: ReadonlyArray<string>): ReadonlyArray<InputError> {
  const faults = new Map<string, InputError>();
  for (const name of names) {
    for (const expected of resolved) {
      if (name.length !== expected.length || name === expected || name.toLowerCase() !== expected) continue;
      faults.set(name, { pointer: pointerTo([name]), message: `must be spelled "${expected}"` });
    }
  }
  return [...faults.values()];
}
