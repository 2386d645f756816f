import { EncodedJson, type Json, jsonTextOf } from '#shared/json/json.ts';

const maxRecords = 1_000;
/** A longer record is a part of its own. */
const maxCharacters = 256 * 1024;

/**
 * Divides records into parts for one write each, so that neither the event loop nor other writes wait long for one. A
 * part is encoded when it is requested.
 */
export function* recordParts(
  entries: Iterable<readonly [string, Json | EncodedJson]>,
): Generator<ReadonlyMap<string, EncodedJson>, void, void> {
  let part = new Map<string, EncodedJson>();
  let characters = 0;
  for (const [key, value] of entries) {
    const text = jsonTextOf(value);
    if (part.size >= maxRecords || (part.size > 0 && characters + text.length > maxCharacters)) {
      yield part;
      part = new Map();
      characters = 0;
    }
    part.set(key, new EncodedJson(text));
    characters += text.length;
  }
  if (part.size > 0) yield part;
}
