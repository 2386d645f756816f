import * as t from 'io-ts';
import { nextCursorOutput } from '#application/queries/paging.ts';

/** A page of records under a name of their own. */
export type ListOf<Name extends string, Record> = { readonly [member in Name]: ReadonlyArray<Record> } & {
  readonly nextCursor?: string | undefined;
};

/** The codec of a page of records. @param member holds them */
export function listOf<Name extends string, Record>(
  member: Name,
  record: t.Type<Record, unknown, unknown>,
): t.Type<ListOf<Name, Record>, unknown, unknown> {
  // The type of an object with a computed member does not name it.
  const page = t.intersection(
    [t.type({ [member]: t.readonlyArray(record) }), nextCursorOutput],
    `${record.name}List`,
  ) as unknown;
  return page as t.Type<ListOf<Name, Record>, unknown, unknown>;
}
