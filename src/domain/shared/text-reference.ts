import { hash } from 'node:crypto';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** Refers to a client's text or other large contents of an event, with a digest for comparisons. */
export interface TextReference {
  /** The revision of the event that has the text. */
  readonly revision: number;
  readonly digest: string;
}

/** Reads the data of one event of a stream. Rejects with `UnavailableError`. */
export type DataAt = (revision: number) => Promise<JsonObject>;

export function referenceTo(contents: Json, revision: number): TextReference {
  return { revision, digest: digestOf(contents) };
}

export function refersTo({ digest }: TextReference, contents: Json): boolean {
  return digest === digestOf(contents);
}

/** @param member of the event's data */
export async function readReferencedText<Text extends Json = string | null>(
  { revision }: Pick<TextReference, 'revision'>,
  member: string,
  dataAt: DataAt,
): Promise<Text> {
  return (await dataAt(revision))[member] as Text;
}

/** The first 128 bits of SHA-256 of the JSON text, which also distinguishes ill-formed UTF-16. */
function digestOf(contents: Json): string {
  return hash('sha256', JSON.stringify(contents) ?? '', 'base64url').slice(0, 22);
}
