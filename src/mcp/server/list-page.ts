import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** A part of a list. */
export interface ListPage<Item> {
  readonly items: ReadonlyArray<Item>;
  /** Begins the next page; undefined at the end. */
  readonly nextCursor: string | undefined;
}

/**
 * A page of a list that is in memory: it ends before its JSON takes more than so many bytes, but has one item at least.
 * @param cursor of the page before: the number of items before it
 * @throws ProtocolError for a cursor that no page gave
 */
export function pageOf<Item>(items: ReadonlyArray<Item>, cursor: string | undefined, maxBytes: number): ListPage<Item> {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (cursor !== undefined && !(/^\d{1,6}$/.test(cursor) && start > 0 && start < items.length)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor must be the nextCursor of an earlier page.');
  }
  let bytes = 0;
  let end = start;
  for (const item of items.slice(start)) {
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (bytes > maxBytes && end > start) break;
    end += 1;
  }
  return { items: items.slice(start, end), nextCursor: end < items.length ? String(end) : undefined };
}
