import type { Member, Members, ValuePlace } from './json-members.ts';

export interface Edit {
  readonly start: number;
  readonly end: number;
  /** Latin1 or ASCII text. */
  readonly text: string;
}

/** An edit, with bytes that are copied once. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  /** Latin1 or ASCII text, or bytes in pieces. */
  readonly text: string | ReadonlyArray<Buffer>;
}

interface MemberChanges {
  /** JSON texts (ASCII) that replace the values of these members. If a name occurs twice, both values are replaced. */
  readonly replace?: Readonly<Record<string, string>>;
  /** Members of `replace` that are added at the beginning if the object does not have them. */
  readonly add?: ReadonlyArray<string>;
  /** Members to remove, each with one comma. */
  readonly remove?: ReadonlyArray<string>;
}

type EditedMembers = Pick<Members, 'open' | 'count' | 'found'>;

const none: ReadonlyArray<never> = [];

/**
 * The edits of some members. All other bytes stay unchanged.
 * @param members must have been collected for the names of all changes
 */
export function editsOf({ open, count, found }: EditedMembers, changes: MemberChanges): ReadonlyArray<Edit> {
  const { replace = {}, add = none, remove = none } = changes;
  const removed = remove.length === 0 ? none : found.filter(({ name }) => remove.includes(name));
  const edits: Edit[] = [];
  for (const { name, valueStart, end } of found) {
    const text = Object.hasOwn(replace, name) && !remove.includes(name) ? replace[name] : undefined;
    if (text !== undefined) edits.push({ start: valueStart, end, text });
  }
  const missing = add.length === 0 ? none : add.filter((name) => !found.some((member) => member.name === name));
  if (missing.length > 0) {
    const texts = missing.map((name) => `${JSON.stringify(name)}:${replace[name]}`);
    const keepsSome = count > removed.length;
    edits.push({ start: open + 1, end: open + 1, text: texts.join(',') + (keepsSome ? ',' : '') });
  }
  if (removed.length > 0) edits.push(...removals(removed));
  return inPlace(edits);
}

/** A member is removed with the comma before it, and the first member with the comma after it. */
function removals(removed: ReadonlyArray<Member>): ReadonlyArray<Edit> {
  const edits: Edit[] = [];
  let leadingEnd: number | null = null;
  for (const { start, end, previousEnd, nextStart } of removed) {
    if (previousEnd === leadingEnd) {
      edits.push({ start, end: nextStart ?? end, text: '' });
      leadingEnd = end;
    } else edits.push({ start: previousEnd ?? start, end, text: '' });
  }
  return edits;
}

/** Removes items, each with one comma. @param removed indexes */
export function itemRemovals(items: ReadonlyArray<ValuePlace>, removed: ReadonlySet<number>): ReadonlyArray<Edit> {
  let hasKept = false;
  return items.flatMap(({ valueStart, end }, index) => {
    if (!removed.has(index)) {
      hasKept = true;
      return [];
    }
    const start = hasKept ? (items[index - 1]?.end ?? valueStart) : valueStart;
    return [{ start, end: hasKept ? end : (items[index + 1]?.valueStart ?? end), text: '' }];
  });
}

/** Sorts edits by start. An insertion comes before a replacement at the same place. */
export function inPlace<Each extends Splice>(edits: ReadonlyArray<Each>): ReadonlyArray<Each> {
  if (edits.length < 2) return edits;
  return edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
}

/** @param edits in order, without overlaps */
export function applyEdits(bytes: Buffer, edits: ReadonlyArray<Splice>): Buffer {
  const [only] = edits;
  if (only === undefined) return bytes;
  const result = Buffer.allocUnsafe(bytes.length + growthOf(edits));
  let from = 0;
  let to = 0;
  for (const { start, end, text } of edits) {
    to += bytes.copy(result, to, from, start);
    if (typeof text === 'string') to += result.write(text, to, 'latin1');
    else for (const piece of text) to += piece.copy(result, to);
    from = end;
  }
  bytes.copy(result, to, from);
  return result;
}

export function growthOf(edits: ReadonlyArray<Splice>): number {
  return edits.reduce((sum, { start, end, text }) => sum + lengthOf(text) - (end - start), 0);
}

export function lengthOf(text: Splice['text']): number {
  return typeof text === 'string' ? text.length : text.reduce((sum, piece) => sum + piece.length, 0);
}

/** The text in ASCII: other characters are escaped. */
export function asciiJson(text: string): string {
  const json = JSON.stringify(text);
  return isAscii.test(json) ? json : json.replace(other, escaped);
}

const isAscii = /^[\x20-\x7e]*$/;
const other = /[^\x20-\x7e]/g;

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
