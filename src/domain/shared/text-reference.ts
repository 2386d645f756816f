import { hash } from 'node:crypto';
import type { Json, JsonObject } from '#shared/json/json.ts';

/**
 * What a state keeps of a client's text, or of other contents of any size: which event of the stream has it, and a
 * digest to compare another text with it.
 */
export interface TextReference {
  /** The revision of the event that has it. */
  readonly revision: number;
  readonly digest: string;
}

/** Reads the data of one event of a stream, by its revision. Rejects with `UnavailableError`. */
export type DataAt = (revision: number) => Promise<JsonObject>;

/** A reference to contents that the event at a revision has. */
export function referenceTo(contents: Json, revision: number): TextReference {
  return { revision, digest: digestOf(contents) };
}

/** Whether these are the contents that a reference is about. */
export function refersTo({ digest }: TextReference, contents: Json): boolean {
  return digest === digestOf(contents);
}

/** Reads what a reference is about. @param member of the event's data that has it */
export async function readText<Text extends Json = string | null>(
  { revision }: Pick<TextReference, 'revision'>,
  member: string,
  dataAt: DataAt,
): Promise<Text> {
  return (await dataAt(revision))[member] as Text;
}

/** 128 bits of SHA-256. The contents are hashed as JSON text, where no two differ in ill-formed UTF-16 alone. */
function digestOf(contents: Json): string {
  return hash('sha256', JSON.stringify(contents) ?? '', 'base64url').slice(0, 22);
}
