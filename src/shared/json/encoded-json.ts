import type { Json } from './json.ts';

/**
 * A JSON value in the form of its text, which can be put into an answer without parsing it. `Value` is the type of the
 * value.
 */
export class EncodedJson<Value = unknown> {
  readonly text: string;

  /** @param text one JSON value; it is not checked */
  constructor(text: string) {
    this.text = text;
  }

  /** Returns the value. Each call parses the text again. */
  parse(): Value {
    return JSON.parse(this.text) as Value;
  }

  /** Makes `JSON.stringify` write the value and not its text. */
  toJSON(): Value {
    return this.parse();
  }
}

/** Encodes a value. @throws TypeError for a value that JSON cannot represent */
export function encodeJson<Value>(value: Value): EncodedJson<Value> {
  return new EncodedJson<Value>(JSON.stringify(value));
}

/** The members of an object to be encoded: values, encoded values, and lists of encoded values. */
export type EncodableMembers = Readonly<Record<string, Json | EncodedJson | ReadonlyArray<EncodedJson> | undefined>>;

/** Encodes an object from its members, in their order, without parsing encoded values. Leaves `undefined` out. */
export function encodeObject<Value = unknown>(members: EncodableMembers): EncodedJson<Value> {
  const texts = Object.entries(members)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`);
  return new EncodedJson<Value>(`{${texts.join(',')}}`);
}

/** Returns the text of a value, encoded or not. */
export function jsonTextOf(value: Json | EncodedJson): string {
  return value instanceof EncodedJson ? value.text : JSON.stringify(value);
}

function textOf(member: EncodableMembers[string]): string {
  if (!Array.isArray(member)) return jsonTextOf(member as Json | EncodedJson);
  return `[${member.map((item: Json | EncodedJson) => jsonTextOf(item)).join(',')}]`;
}
