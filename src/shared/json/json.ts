/** A JSON value (RFC 8259), as `JSON.parse` returns it. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | JsonObject;

/** A JSON object. Any member may be absent. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}
