import type { InputError } from '#domain/shared/failure.ts';

const maxPointers = 20;
/** Maximum number of pointers that are compared. Equal ones among more are not found. */
const maxCompared = 5_000;
const maxCharacters = 1024;
/** Room for the number of those that are left out. */
const countCharacters = 8;

/**
 * The value of `Switchyard-Ignored`: pointers of members and the names of query parameters (`?name`) that an operation
 * has left out. Pointers that differ only in indices of lists are named once, with `*`. At most 20 pointers and 1 KiB
 * are named, and the others are counted at the end (`+37`).
 * @param ignored at least one
 */
export function ignoredMembers(ignored: ReadonlyArray<InputError>): string {
  const all = [...new Set(ignored.slice(0, maxCompared).map(nameOf))];
  const named: string[] = [];
  let length = countCharacters;
  for (const name of all.slice(0, maxPointers)) {
    const written = name.length > maxCharacters ? '' : encoded(name);
    length += written.length + ', '.length;
    if (length > maxCharacters) break;
    if (written !== '') named.push(written);
  }
  const left = all.length - named.length + Math.max(0, ignored.length - maxCompared);
  return [...named, ...(left > 0 ? [`+${left}`] : [])].join(', ');
}

function nameOf({ pointer, parameter }: InputError): string {
  if (parameter !== undefined) return `?${parameter}`;
  return pointer.length > maxCharacters ? '' : pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*');
}

/** Encodes what a header cannot have, what separates names, and the sign of the encoding itself. */
function encoded(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x21-\x7e]|[,%]/gu, (character) => {
    const bytes = [...Buffer.from(character)];
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}
