import * as t from 'io-ts';
import { nextCursorOutput } from '#application/operations/paging.ts';

/** An answer with the records in a member that each list names. */
export type ListOf<Name extends string, Record> = { readonly [member in Name]: ReadonlyArray<Record> } & {
  readonly nextCursor?: string | undefined;
};

/** @param member with the records */
export function listOf<Name extends string, Record>(
  member: Name,
  record: t.Type<Record, unknown, unknown>,
): t.Type<ListOf<Name, Record>, unknown, unknown> {
  // TypeScript does not keep the name of a computed member in the type.
  const page = t.intersection(
    [t.type({ [member]: t.readonlyArray(record) }), nextCursorOutput],
    `${record.name}List`,
  ) as unknown;
  return page as t.Type<ListOf<Name, Record>, unknown, unknown>;
}
