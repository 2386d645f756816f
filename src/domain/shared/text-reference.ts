import { hash } from 'node:crypto';
import type { Json, JsonObject } from '#shared/json/json.ts';

/**
 * A state's reference to a client's text or other large contents: the event that has it, and a digest for comparisons.
 */
export interface TextReference {
  /** The revision of the event that has it. */
  readonly revision: number;
  readonly digest: string;
}

/** Reads the data of one event of a stream, by its revision. Rejects with `UnavailableError`. */
export type DataAt = (revision: number) => Promise<JsonObject>;

/** Makes a reference to contents of the event at a revision. */
export function referenceTo(contents: Json, revision: number): TextReference {
  return { revision, digest: digestOf(contents) };
}

/** Whether a reference refers to these contents. */
export function refersTo({ digest }: TextReference, contents: Json): boolean {
  return digest === digestOf(contents);
}

/**
 * Reads the contents of a reference.
 * @param member the member of the event's data
 */
export async function readReferencedText<Text extends Json = string | null>(
  { revision }: Pick<TextReference, 'revision'>,
  member: string,
  dataAt: DataAt,
): Promise<Text> {
  return (await dataAt(revision))[member] as Text;
}

/** 128 bits of SHA-256 of the JSON text, which also distinguishes ill-formed UTF-16. */
function digestOf(contents: Json): string {
  return hash('sha256', JSON.stringify(contents) ?? '', 'base64url').slice(0, 22);
}
