/** A JSON value (RFC 8259), as `JSON.parse` gives it. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | JsonObject;

/** A JSON object. Members may be absent: read them with care. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}
