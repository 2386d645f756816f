import type { Json } from './json.ts';

/**
 * A JSON value as its text: it can be put into an answer without being parsed and written again.
 * `Value` is the type of what the text holds.
 */
export class EncodedJson<Value = unknown> {
  readonly text: string;

  /** @param text one JSON value; it is taken as it is */
  constructor(text: string) {
    this.text = text;
  }

  /** The value. Each call parses the text again. */
  parse(): Value {
    return JSON.parse(this.text) as Value;
  }

  /** `JSON.stringify` of something that holds this gives the value, not its text. */
  toJSON(): Value {
    return this.parse();
  }
}

/** Encodes a value. @throws TypeError for what JSON cannot hold */
export function encodeJson<Value>(value: Value): EncodedJson<Value> {
  return new EncodedJson<Value>(JSON.stringify(value));
}

/** The members of an object to be encoded: values, encoded values, and lists of encoded values. */
export type EncodableMembers = Readonly<Record<string, Json | EncodedJson | ReadonlyArray<EncodedJson> | undefined>>;

/** Encodes an object from its members, in their order, without parsing what is encoded. Leaves `undefined` out. */
export function encodeObject<Value = unknown>(members: EncodableMembers): EncodedJson<Value> {
  const texts = Object.entries(members)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`);
  return new EncodedJson<Value>(`{${texts.join(',')}}`);
}

/** The text of a value, be it encoded or not. */
export function jsonTextOf(value: Json | EncodedJson): string {
  return value instanceof EncodedJson ? value.text : JSON.stringify(value);
}

function textOf(member: EncodableMembers[string]): string {
  if (!Array.isArray(member)) return jsonTextOf(member as Json | EncodedJson);
  return `[${member.map((item: Json | EncodedJson) => jsonTextOf(item)).join(',')}]`;
}
