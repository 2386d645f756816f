import patches, { type Operation } from 'fast-json-patch';
import * as t from 'io-ts';
import { enumeration } from '#shared/codecs/choice.ts';
import { json } from '#shared/codecs/json-value.ts';
import { text } from '#shared/codecs/text.ts';
import type { Json } from '#shared/json/json.ts';

/** RFC 6902: one of the three operations that a comparison needs. Only `remove` has no value. */
const PatchOperation = t.intersection(
  [
    t.type({ op: enumeration('PatchOperationKind', 'add', 'remove', 'replace'), path: text() }),
    t.partial({ value: json }),
  ],
  'PatchOperation',
);

export const JsonPatch = t.readonlyArray(PatchOperation, 'JsonPatch');

export type JsonPatch = t.TypeOf<typeof JsonPatch>;

/** `fast-json-patch` compares objects, so values of any type are wrapped in one. */
const member = 'value';

/** The characters of an operation next to its path and value. */
const charactersOfOperation = 30;

/**
 * The patch, which is empty for equal values. It is never much longer than the new value: if many changes are deep
 * below long names, it replaces the whole value. It takes time in proportion to both values.
 */
export function jsonPatch(before: Json, after: Json): JsonPatch {
  const compared = patches.compare({ [member]: before }, { [member]: after });
  return isLongerThan(compared, after) ? [{ op: 'replace', path: '', value: after }] : compared.map(withoutMember);
}

function withoutMember(operation: Operation): JsonPatch[number] {
  const path = operation.path.slice(member.length + 1);
  switch (operation.op) {
    case 'add':
    case 'replace':
      return { op: operation.op, path, value: operation.value };
    case 'remove':
      return { op: 'remove', path };
    default:
      throw new Error(`a comparison gave the operation ${operation.op}`);
  }
}

/**
 * Measures a patch, and stops as soon as the answer is known. It reads only the lengths of paths, because V8
 * concatenates lazily, and thousands of long paths would not fit into memory.
 */
function isLongerThan(patch: ReadonlyArray<Operation>, after: Json): boolean {
  const paths = patch.reduce((sum, { path }) => sum + path.length + charactersOfOperation, 0);
  // A short patch is not worth measuring.
  if (paths < minMeasured) return false;
  const whole = JSON.stringify(after).length;
  let length = paths;
  for (const operation of patch) {
    if (length > whole) return true;
    const value: Json | undefined = 'value' in operation ? operation.value : undefined;
    length += value === undefined ? 0 : JSON.stringify(value).length;
  }
  return length > whole;
}

/** A patch whose paths have fewer characters is used without measuring it. */
const minMeasured = 4096;
