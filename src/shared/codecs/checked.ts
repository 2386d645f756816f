import * as t from 'io-ts';

/** A fault inside a value: the path to it, the faulty value, and what is wrong. */
export interface NestedIssue {
  readonly path: ReadonlyArray<string>;
  readonly value: unknown;
  readonly message: string;
}

/** @param check returns the faults; none for a valid value */
export function checked<A, O>(
  codec: t.Type<A, O, unknown>,
  check: (value: A) => ReadonlyArray<NestedIssue>,
): t.Type<A, O, unknown> {
  const checking = new t.Type<A, O, unknown>(
    codec.name,
    codec.is,
    (input, context) => {
      const result = codec.validate(input, context);
      if (result._tag === 'Left') return result;
      const faults = check(result.right);
      if (faults.length === 0) return result;
      return t.failures(faults.map(({ path, value, message }) => faultAt(context, path, value, message)));
    },
    codec.encode,
  );
  structures.set(checking, codec);
  return checking;
}

/** @param check returns what is wrong with a value; null for nothing */
export function checkedText(
  codec: t.Type<string>,
  check: (value: string) => string | null,
): t.Type<string, string, unknown> {
  return checked(codec, (value) => {
    const message = check(value);
    return message === null ? [] : [{ path: [], value, message }];
  });
}

const structures = new WeakMap<t.Mixed, t.Mixed>();

/** The structure of the codec inside a `checked`. */
export function structureOf(codec: t.Mixed): t.Mixed | undefined {
  return structures.get(codec);
}

/**
 * Returns a fault below the place that a context names. Its entries have no codec with a structure, so that each key
 * counts.
 */
export function faultAt(
  context: t.Context,
  path: ReadonlyArray<string>,
  value: unknown,
  message: string,
): t.ValidationError {
  const here = context.at(-1);
  const above = here === undefined ? [] : [...context.slice(0, -1), { ...here, type: t.unknown }];
  return { value, message, context: [...above, ...path.map((key) => ({ key, type: t.unknown }))] };
}
