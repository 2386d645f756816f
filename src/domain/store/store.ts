import { Map as PersistentMap } from 'immutable';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { fileId, unixSeconds, unixTime } from '#domain/file/record.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { type DataAt, referenceTo, refersTo, type TextReference } from '#domain/shared/text-reference.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

interface StoredFile {
  readonly bytes: number;
  readonly addedAt: string;
}

/** Null before it was created. */
export type StoreState = {
  readonly id: string;
  /** The name and the description. An event with one of them has both. */
  readonly contents: TextReference;
  /** The files by their ids. */
  readonly files: PersistentMap<string, StoredFile>;
  readonly deleted: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
} | null;

type StoreContents = Pick<StoreRecord, 'name' | 'description'>;

type Decided = ReadonlyArray<EventOf<StoreEvents>>;

/** Estimated size of a file with its entry in `files`. */
const bytesOfFile = 160;

/** Each store has one stream. */
export const store: Entity<StoreState, StoreEvents> = {
  category: 'store',
  stateVersion: 2,
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null && !state.deleted,
  estimateBytes: (state) => bytesOfFile * (state?.files.size ?? 0),
  notFound: 'store-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    switch (event.type) {
      case 'StoreCreated': {
        const contents = referenceTo(inOrder(event.data), event.revision);
        return {
          id: event.data.id,
          contents,
          files: PersistentMap(),
          deleted: false,
          createdAt: time,
          updatedAt: time,
        };
      }
      case 'StoreDescribed':
        return state && { ...state, contents: referenceTo(inOrder(event.data), event.revision), updatedAt: time };
      case 'StoreFileAdded': {
        const { fileId, bytes } = event.data;
        return state && { ...state, files: state.files.set(fileId, { bytes, addedAt: time }), updatedAt: time };
      }
      case 'StoreFileRemoved':
        return state && { ...state, files: state.files.remove(event.data.fileId), updatedAt: time };
      case 'StoreDeleted':
        return state && { ...state, deleted: true };
    }
  },
};

const inOrder = ({ name, description }: StoreContents) => [name, description];

export function newStoreRecord({ id, name, description }: StoreEvents['StoreCreated'], time: string): StoreRecord {
  return { id, name, description, status: 'ready', createdAt: time, updatedAt: time };
}

export function describedStoreRecord(
  record: StoreRecord,
  { name, description }: StoreEvents['StoreDescribed'],
  time: string,
): StoreRecord {
  return { ...record, name, description, updatedAt: time };
}

/** Decides no event if it was created before, even if it is deleted now. */
export function storeMade(contents: StoreEvents['StoreCreated'], state: StoreState): Decided {
  return state === null ? [newEvent('StoreCreated', contents)] : [];
}

/** Decides no event if the store has them already or does not exist. */
export function storeDescribed({ id, name, description }: StoreEvents['StoreDescribed'], state: StoreState): Decided {
  if (state === null || state.deleted) return [];
  return refersTo(state.contents, inOrder({ name, description }))
    ? []
    : [newEvent('StoreDescribed', { id, name, description })];
}

/** Decides no event if the store has it already or does not exist. */
export function storeFileAdded({ id, fileId, bytes }: StoreEvents['StoreFileAdded'], state: StoreState): Decided {
  if (state === null || state.deleted || state.files.has(fileId)) return [];
  return [newEvent('StoreFileAdded', { id, fileId, bytes })];
}

/** Decides no event if the store does not have it or does not exist. */
export function storeFileRemoved({ id, fileId, reason }: StoreEvents['StoreFileRemoved'], state: StoreState): Decided {
  if (state === null || state.deleted || !state.files.has(fileId)) return [];
  return [newEvent('StoreFileRemoved', { id, fileId, reason })];
}

/** Decides no event if it does not exist. */
export function storeRemoved(id: string, state: StoreState): Decided {
  return store.isLive(state, id) ? [newEvent('StoreDeleted', { id })] : [];
}

/** @param dataAt reads events of the store's stream, which have name and description */
export async function storeRecord(state: StoreState, dataAt: DataAt): Promise<StoreRecord> {
  if (state === null) throw new Error('an answer about a store needs one');
  const { id, contents, createdAt, updatedAt } = state;
  const { name, description } = (await dataAt(contents.revision)) as unknown as StoreContents;
  return { id, name, description, status: 'ready', createdAt, updatedAt };
}

/** The failure for a file that is not in the store, although it may exist. */
export function notInStore(storeId: string, fileId: string): Failure {
  return failure('file-not-found', `The store ${storeId} has no file ${fileId}.`);
}

export const storeEvents = {
  StoreCreated: t.type({ id: t.string, projectId: t.string, name: t.string, description: nullable(t.string) }),
  StoreDescribed: t.type({ id: t.string, name: t.string, description: nullable(t.string) }),
  StoreFileAdded: t.type({ id: t.string, fileId: t.string, bytes: t.number }),
  StoreFileRemoved: t.type({ id: t.string, fileId: t.string, reason: oneOf('requested', 'file-deleted') }),
  /** Its files are not deleted. */
  StoreDeleted: t.type({ id: t.string }),
};

export type StoreEvents = { [Type in keyof typeof storeEvents]: t.TypeOf<(typeof storeEvents)[Type]> };

export const StoreRecord = record('Store', {
  id: [cuid, exampleIds.store],
  name: [text({ min: 1 }), 'House rules'],
  description: [nullable(text()), 'What guests ask most'],
  status: [oneOf('ready'), 'ready'],
  ...recordTimes,
});

export type StoreRecord = t.TypeOf<typeof StoreRecord>;

/** A file in a store. It has the file's id. */
export const StoreFileRecord = record('StoreFile', {
  id: [fileId, exampleIds.file],
  object: [oneOf('store.file'), 'store.file'],
  store_id: [cuid, exampleIds.store],
  bytes: [integer(0, Number.MAX_SAFE_INTEGER), 1_204],
  status: [oneOf('ready'), 'ready'],
  /** When the file was added. */
  created_at: [unixTime, 1_767_605_400],
});

export type StoreFileRecord = t.TypeOf<typeof StoreFileRecord>;

/** @param time RFC 3339 */
export function newStoreFileRecord(
  { id, fileId, bytes }: StoreEvents['StoreFileAdded'],
  time: string,
): StoreFileRecord {
  return { id: fileId, object: 'store.file', store_id: id, bytes, status: 'ready', created_at: unixSeconds(time) };
}
