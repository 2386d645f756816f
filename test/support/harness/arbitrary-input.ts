import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import { decodeInput } from '#application/operations/invoke.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** A character of two UTF-16 code units. */
const astral = '\u{1f4de}';

const shown = (value: Json) => JSON.stringify(value).slice(0, 40);

/**
 * Declares tests of an operation's input. Each test changes one member of a valid input. A value is accepted unchanged;
 * a refusal must point at the member.
 */
export function inputOf(operation: { readonly input: t.Mixed }, valid: JsonObject) {
  const decode = (fields: JsonObject) => decodeInput(operation.input, fields);

  const accepts = (member: string, value: Json, what = shown(value), decoded: Json = value) =>
    it(`accepts ${member}: ${what}`, () => {
      const result = decode({ ...valid, [member]: value });
      assert.ok(E.isRight(result), JSON.stringify(result));
      assert.deepEqual((result.right as JsonObject)[member], decoded);
    });

  const refuses = (member: string, value: Json, what = shown(value)) =>
    it(`refuses ${member}: ${what}`, () => {
      const result = decode({ ...valid, [member]: value });
      assert.ok(E.isLeft(result), 'it was accepted');
      assert.equal(result.left.code, 'invalid-input');
      assert.deepEqual([...new Set(result.left.errors?.map(({ pointer }) => pointer.split('/')[1]))], [member]);
    });

  const without = (member: string) => Object.fromEntries(Object.entries(valid).filter(([name]) => name !== member));

  return {
    accepts,
    refuses,
    /** The member is required. */
    required: (member: string) =>
      it(`requires ${member}`, () => {
        const result = decode(without(member));
        assert.ok(E.isLeft(result), 'it was accepted');
        assert.deepEqual(result.left.errors, [{ pointer: `/${member}`, message: 'is required' }]);
      }),
    /** The member is optional, with this default. */
    optional: (member: string, value: Json | undefined) =>
      it(`defaults ${member} to ${shown(value ?? 'nothing')}`, () => {
        const result = decode(without(member));
        assert.ok(E.isRight(result), JSON.stringify(result));
        assert.deepEqual((result.right as JsonObject)[member], value);
      }),
    /** A text whose length is limited, in code points; null only with `orNull`. */
    text: (member: string, { min, max, orNull = false }: { min: number; max: number; orNull?: boolean }) => {
      for (const character of ['a', astral]) {
        accepts(member, character.repeat(max), `${max} × ${character}`);
        refuses(member, character.repeat(max + 1), `${max + 1} × ${character}`);
        accepts(member, character.repeat(min), `${min} × ${character}`);
      }
      if (min > 0) refuses(member, 'a'.repeat(min - 1), `${min - 1} × a`);
      for (const value of [7, true, ['a'], { a: 'a' }]) refuses(member, value);
      if (orNull) accepts(member, null);
      else refuses(member, null);
    },
    /** A text of any length. */
    anyText: (member: string) => {
      for (const value of ['', 'a', astral]) accepts(member, value);
      accepts(member, 'a'.repeat(100_000), '100000 × a');
      for (const value of [7, true, ['a'], { a: 'a' }, null]) refuses(member, value);
    },
    /** An id; null only with `orNull`. */
    id: (member: string, { orNull = false }: { orNull?: boolean } = {}) => {
      for (const id of ['c123456', 'C123456', `c${'z9'.repeat(40)}`]) accepts(member, id);
      for (const id of ['', 'c12345', 'x123456', 'c12345A', 'c123456 ', ' c123456', 'c123456\n', 7, []]) {
        refuses(member, id);
      }
      if (orNull) accepts(member, null);
      else refuses(member, null);
    },
    /** Exactly one of these values. */
    choice: (member: string, values: ReadonlyArray<string>) => {
      for (const value of values) accepts(member, value);
      for (const value of ['', 'other', `${values[0]} `, values[0]?.toUpperCase() ?? '', null, 1, true]) {
        refuses(member, value);
      }
    },
    /** A JSON boolean. */
    boolean: (member: string) => {
      for (const value of [true, false]) accepts(member, value);
      for (const value of ['true', 'false', 0, 1, null]) refuses(member, value);
    },
    /** Any JSON value. */
    anyJson: (member: string) => {
      for (const value of [null, 0, '', false, [], {}, { deep: [{ a: null }] }]) accepts(member, value);
    },
    /** Unknown members are ignored. */
    ignoresUnknown: () =>
      it('ignores unknown members', () => {
        assert.ok(E.isRight(decode({ ...valid, surprise: { a: 1 } })));
      }),
  };
}
