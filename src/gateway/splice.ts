import type { Member } from './json-members.ts';

/** What is put where into a text's bytes. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  /** Latin1 or ASCII text. */
  readonly text: string;
}

/** Changes of an object's members, by name. */
export interface MemberChanges {
  /** JSON texts (ASCII) that replace the values of these members, of all where a name is doubled. */
  readonly replace?: Readonly<Record<string, string>>;
  /** Those of `replace` that are put first where the object has no such member. */
  readonly add?: ReadonlyArray<string>;
  /** Taken out, with one comma each. */
  readonly remove?: ReadonlyArray<string>;
}

/**
 * The edits that change an object's members and leave every other byte as it is.
 * @param open the offset of the object's brace
 */
export function editsOf(members: ReadonlyArray<Member>, open: number, changes: MemberChanges): ReadonlyArray<Edit> {
  const { replace = {}, add = [], remove = [] } = changes;
  const edits: Edit[] = [];
  let kept = 0;
  for (const { name, valueStart, end } of members) {
    if (remove.includes(name)) continue;
    kept += 1;
    const text = Object.hasOwn(replace, name) ? replace[name] : undefined;
    if (text !== undefined) edits.push({ start: valueStart, end, text });
  }
  const missing = add.filter((name) => !members.some((member) => member.name === name));
  if (missing.length > 0) {
    const texts = missing.map((name) => `${JSON.stringify(name)}:${replace[name]}`);
    edits.push({ start: open + 1, end: open + 1, text: texts.join(',') + (kept > 0 ? ',' : '') });
  }
  edits.push(...removals(members, remove));
  return inPlace(edits);
}

/** A member goes with the comma before it; at the object's beginning with the one behind it. */
function removals(members: ReadonlyArray<Member>, names: ReadonlyArray<string>): ReadonlyArray<Edit> {
  if (names.length === 0) return [];
  const edits: Edit[] = [];
  const firstKept = members.findIndex(({ name }) => !names.includes(name));
  const leading = firstKept === -1 ? members : members.slice(0, firstKept);
  const [first, last] = [leading[0], leading.at(-1)];
  if (first !== undefined && last !== undefined)
    edits.push({ start: first.start, end: members[leading.length]?.start ?? last.end, text: '' });
  for (let index = leading.length; index < members.length; index += 1) {
    const [before, member] = [members[index - 1], members[index]];
    if (before === undefined || member === undefined || !names.includes(member.name)) continue;
    edits.push({ start: before.end, end: member.end, text: '' });
  }
  return edits;
}

/** Edits in the order of their places; what is put before a place comes before what is done from there on. */
export function inPlace(edits: ReadonlyArray<Edit>): ReadonlyArray<Edit> {
  if (edits.length < 2) return edits;
  return edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
}

/** Bytes with edits made. @param edits in order, none over another */
export function applyEdits(bytes: Buffer, edits: ReadonlyArray<Edit>): Buffer {
  const [only] = edits;
  if (only === undefined) return bytes;
  const growth = edits.reduce((sum, { start, end, text }) => sum + text.length - (end - start), 0);
  const result = Buffer.allocUnsafe(bytes.length + growth);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of edits) {
    to += bytes.copy(result, to, from, start);
    to += result.write(text, to, 'latin1');
    from = end;
  }
  bytes.copy(result, to, from);
  return result;
}

/** A text as JSON in ASCII alone: what is not ASCII is escaped. */
export function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
