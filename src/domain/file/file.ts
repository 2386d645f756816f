import { Map as PersistentMap } from 'immutable';
import { derivedCharacters } from '#domain/shared/derived-characters.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { FileEvents } from './events.ts';
import { type FileRecord, unixSeconds } from './record.ts';

/** Null before it was created. */
export type FileState = {
  readonly id: string;
  readonly projectId: string;
  readonly blobId: string;
  readonly bytes: number;
  readonly isBatchInput: boolean;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** The ids of the batches that read it. */
  readonly heldBy: PersistentMap<string, true>;
  readonly deleted: boolean;
} | null;

type Decided = ReadonlyArray<EventOf<FileEvents>>;

const idPrefix = 'file-';

/** Estimated size of a holder with its entry in `heldBy`. */
const bytesOfHolder = 96;

/** Each file has one stream. */
export const file: Entity<FileState, FileEvents> = {
  category: 'file',
  stateVersion: 1,
  initial: null,
  streamKey: (id) => (id.startsWith(idPrefix) ? id.slice(idPrefix.length) : id),
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null && !state.deleted,
  estimateBytes: (state) => bytesOfHolder * (state?.heldBy.size ?? 0),
  notFound: 'file-not-found',
  evolve: (state, event) => {
    switch (event.type) {
      case 'FileCreated': {
        const { id, projectId, blobId, bytes, purpose, expiresAfterSeconds } = event.data;
        const { time: createdAt } = event.metadata;
        const expiresAt = expiryOf(createdAt, expiresAfterSeconds);
        const isBatchInput = purpose === batchPurpose;
        const facts = { id, projectId, blobId, bytes, isBatchInput, createdAt, expiresAt };
        return { ...facts, heldBy: PersistentMap(), deleted: false };
      }
      case 'FileHeld':
        return state && { ...state, heldBy: state.heldBy.set(event.data.batchId, true) };
      case 'FileReleased':
        return state && { ...state, heldBy: state.heldBy.remove(event.data.batchId) };
      case 'FileDeleted':
        return state && { ...state, deleted: true };
    }
  },
};

/** The purpose of the input file of a batch. */
export const batchPurpose = 'batch';

/** @param id a fresh one */
export function newFileId(id: string): string {
  return `${idPrefix}${id}`;
}

/** Derives an id, so that a repetition gives the same id. @param what distinguishes the batch's files */
export function derivedFileId(batchId: string, what: string): string {
  return newFileId(derivedCharacters(`${what}\n${batchId}`, 24));
}

/** True if the file exists at a time (RFC 3339). An expired file does not exist, even before it is removed. */
export function isFileThere(state: FileState, time: string): state is NonNullable<FileState> {
  return state !== null && !state.deleted && !hasExpired(state, time);
}

/** The time in RFC 3339; null if it does not expire. */
export function expiryOf(createdAt: string, seconds: number | null): string | null {
  return seconds === null ? null : new Date(Date.parse(createdAt) + seconds * 1_000).toISOString();
}

export function hasExpired({ expiresAt }: { readonly expiresAt: string | null }, time: string): boolean {
  return expiresAt !== null && expiresAt <= time;
}

/** Decides no event if it was created before, even if it is deleted now. */
export function fileMade(contents: FileEvents['FileCreated'], state: FileState): Decided {
  return state === null ? [newEvent('FileCreated', contents)] : [];
}

/** Holds the file, so that it cannot be deleted until the batch releases it. Decides no event if it does not exist. */
export function fileHeld(batchId: string, state: FileState, time: string): Decided {
  if (!isFileThere(state, time) || state.heldBy.has(batchId)) return [];
  return [newEvent('FileHeld', { id: state.id, batchId })];
}

export function fileReleased(batchId: string, state: FileState): Decided {
  return state?.heldBy.has(batchId) ? [newEvent('FileReleased', { id: state.id, batchId })] : [];
}

/** Decides no event if the file does not exist or if a batch holds it. */
export function fileRemoved(reason: FileEvents['FileDeleted']['reason'], state: FileState): Decided {
  if (state === null || state.deleted || !state.heldBy.isEmpty()) return [];
  const { id, projectId, blobId, bytes } = state;
  return [newEvent('FileDeleted', { id, projectId, blobId, bytes, reason })];
}

export function newFileRecord(
  { id, filename, purpose, bytes, expiresAfterSeconds }: FileEvents['FileCreated'],
  time: string,
): FileRecord {
  const expiresAt = expiryOf(time, expiresAfterSeconds);
  return {
    id,
    object: 'file',
    bytes,
    created_at: unixSeconds(time),
    expires_at: expiresAt === null ? null : unixSeconds(expiresAt),
    filename,
    purpose,
    status: 'processed',
  };
}
