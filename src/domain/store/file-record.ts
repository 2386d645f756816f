import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { fileId, unixSeconds, unixTime } from '#domain/file/record.ts';
import { oneOf } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';
import type { StoreEvents } from './events.ts';

/** A file in a store in the API; it has the file's id. */
export const StoreFileRecord = t.type(
  {
    id: fileId,
    object: oneOf('store.file'),
    store_id: cuid,
    bytes: integer(0, Number.MAX_SAFE_INTEGER),
    status: oneOf('ready'),
    /** When it was added. */
    created_at: unixTime,
  },
  'StoreFile',
);

export type StoreFileRecord = t.TypeOf<typeof StoreFileRecord>;

/** The record of a file that was added to a store at a time (RFC 3339). */
export function newStoreFileRecord(
  { id, fileId, bytes }: StoreEvents['StoreFileAdded'],
  time: string,
): StoreFileRecord {
  return { id: fileId, object: 'store.file', store_id: id, bytes, status: 'ready', created_at: unixSeconds(time) };
}
