import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

export interface ListPage<Item> {
  readonly items: ReadonlyArray<Item>;
  readonly nextCursor: string | undefined;
}

/**
 * A page of a list in memory. It ends before its JSON exceeds the limit, but has one item at least.
 * @param cursor the cursor from the previous page: the number of items before this page
 * @throws ProtocolError for an invalid cursor
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
