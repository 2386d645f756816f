import { turn } from '#exchange/turns.ts';
import type { WorkOwner } from '#shared/async/fair-queue.ts';
import type { Json } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { type ForeignJson, maxErrorValues, parseForeign, tooLargeJson } from './foreign-json.ts';
import { lastMember, MemberCollector, type ValuePlace, wantedNames } from './json-members.ts';

/** Maximum size of a member. Larger ones are not parsed. */
const maxMemberBytes = 64 * 1024;

/**
 * Reads members of a provider's JSON that has too many values to be parsed. Takes turns of the event loop between its
 * pieces. The whole text must be JSON and have no more levels than any other.
 * @param held whose turns it takes
 * @returns an object with these members alone; a large member is null
 */
export async function readLargeJsonMembers(
  bytes: Buffer,
  names: ReadonlyArray<string>,
  held: WorkOwner,
): Promise<ForeignJson> {
  const members = new MemberCollector(bytes, wantedNames(Object.fromEntries(names.map((name) => [name, []]))));
  const scanner = new JsonScanner(bytes, { maxValues: Number.POSITIVE_INFINITY }, members);
  do await turn(held, 'answer', scanner.bytesOfSlice);
  while (!scanner.advance());
  if (scanner.fault?.kind === 'too-deep' || members.repeated !== null) return tooLargeJson;
  if (scanner.fault !== null || !scanner.isObject) return undefined;
  return Object.fromEntries(
    names.flatMap((name) => {
      const member = lastMember(members, name);
      return member === undefined ? [] : [[name, valueAt(bytes, member)]];
    }),
  );
}

function valueAt(bytes: Buffer, { valueStart, end }: ValuePlace): Json {
  if (end - valueStart > maxMemberBytes) return null;
  const value = parseForeign(bytes.subarray(valueStart, end), maxErrorValues);
  return value === tooLargeJson || value === undefined ? null : value;
}
