import type { Tuned } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

/** Maximum number of pointers. An answer names only a few. */
const maxPointers = 10_000;

/**
 * Members that only offer or tune, and that a translated request leaves out. A parser reads the members of each object
 * here, so that none of the others vanishes unsaid.
 */
export class LeftOut {
  readonly #pointers = new Set<string>();

  get pointers(): ReadonlyArray<string> {
    return [...this.#pointers];
  }

  add(pointer: string): void {
    if (this.#pointers.size < maxPointers) this.#pointers.add(pointer);
  }

  /** Notes a member that is read in another place than the others of its object. */
  take(pointer: string): void {
    this.#pointers.delete(pointer);
  }

  /** Adds the value unless it says nothing. */
  addValue(value: Json | undefined, pointer: string): void {
    if (!saysNothing(value)) this.add(pointer);
  }

  /**
   * Adds the other members that say something. Nothing is copied: a client decides how many members an object has.
   * @param pointer the object's
   */
  read<Name extends string>(
    object: JsonObject,
    pointer: string,
    names: ReadonlyArray<Name>,
  ): { readonly [Each in Name]: Json | undefined } {
    const read: ReadonlyArray<string> = names;
    for (const name of Object.keys(object)) {
      if (this.#pointers.size >= maxPointers) break;
      const value = object[name];
      if (!read.includes(name) && !isDefault(name, value)) this.addValue(value, pointer + pointerTo([name]));
    }
    return object as { readonly [Each in Name]: Json | undefined };
  }

  /** An object that tunes the answer, or an empty one; anything else is left out. */
  objectAt(value: Json | undefined, pointer: string): JsonObject {
    if (isObject(value)) return value;
    this.addValue(value, pointer);
    return {};
  }

  /** A number that tunes the answer; anything else is left out. */
  numberAt(value: Json | undefined, pointer: string): Tuned | null {
    if (typeof value === 'number') return { value, pointer };
    this.addValue(value, pointer);
    return null;
  }

  /** True or false; anything else is left out. */
  flagAt(value: Json | undefined, pointer: string): boolean | null {
    if (typeof value === 'boolean') return value;
    this.addValue(value, pointer);
    return null;
  }

  /** A text that tunes the answer; anything else is left out. */
  textAt(value: Json | undefined, pointer: string): string | null {
    if (typeof value === 'string') return value;
    this.addValue(value, pointer);
    return null;
  }
}

/** Whether a member says nothing: clients send these for what they do not use. */
export function saysNothing(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/** What clients send although every target does it anyway, as JSON texts. */
const defaults: Readonly<Record<string, ReadonlyArray<string>>> = {
  n: ['1'],
  modalities: ['["text"]'],
  service_tier: ['"auto"', '"default"'],
  truncation: ['"disabled"'],
  format: ['{"type":"text"}'],
  verbosity: ['"medium"'],
  frequency_penalty: ['0'],
  presence_penalty: ['0'],
  top_logprobs: ['0'],
  include: ['["reasoning.encrypted_content"]'],
  status: ['"completed"'],
  citations: ['{"enabled":false}'],
  caller: ['{"type":"direct"}'],
  allowed_callers: ['["direct"]'],
};

function isDefault(name: string, value: Json | undefined): boolean {
  return Object.hasOwn(defaults, name) && defaults[name]?.includes(JSON.stringify(value)) === true;
}
