import patches, { type Operation } from 'fast-json-patch';
import * as t from 'io-ts';
import { oneOf } from '#shared/codecs/choice.ts';
import { json } from '#shared/codecs/json-value.ts';
import { text } from '#shared/codecs/text.ts';
import type { Json } from './json.ts';

/** One operation of a JSON Patch (RFC 6902), of the three that a comparison needs. `remove` alone has no value. */
const PatchOperation = t.intersection(
  [t.type({ op: oneOf('add', 'remove', 'replace'), path: text() }), t.partial({ value: json })],
  'PatchOperation',
);

/** The codec of a JSON Patch. */
export const JsonPatch = t.readonlyArray(PatchOperation, 'JsonPatch');

export type JsonPatch = t.TypeOf<typeof JsonPatch>;

/** `fast-json-patch` compares what is inside objects: both values are put into one, so that they may be of any type. */
const member = 'value';

/** Characters that an operation takes beside its path and value. */
const charactersOfOperation = 30;

/**
 * The JSON Patch that makes one value of another: none for equal ones. It is never much longer than the value that it
 * makes: where many changes are deep below long names, the value is replaced as a whole. Takes time in proportion to
 * both values.
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
 * Stops to measure when it knows. It looks at the lengths of paths alone: V8 has not written out yet what was put
 * together, and thousands of long paths would not fit into memory.
 */
function isLongerThan(patch: ReadonlyArray<Operation>, after: Json): boolean {
  const paths = patch.reduce((sum, { path }) => sum + path.length + charactersOfOperation, 0);
  // A short patch is worth no measuring.
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

/** Characters of paths below which a patch is taken as it is. */
const minMeasured = 4096;
