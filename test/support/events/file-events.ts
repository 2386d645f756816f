import type { FileEvents } from '#domain/file/events.ts';
import { newEvent } from '#domain/shared/event.ts';
import { ids } from './tenants.ts';

export const fileId = 'file-cfileone00000001';

export const fileCreated = (change: Partial<FileEvents['FileCreated']> = {}) =>
  newEvent('FileCreated', {
    id: fileId,
    projectId: ids.project,
    blobId: 'file-blob-1',
    filename: 'questions.jsonl',
    purpose: 'batch',
    contentType: 'application/jsonl',
    bytes: 120,
    sha256: 'ab'.repeat(32),
    expiresAfterSeconds: null,
    ...change,
  } satisfies FileEvents['FileCreated']);

export const fileHeld = (batchId: string, id = fileId) => newEvent('FileHeld', { id, batchId });

export const fileReleased = (batchId: string, id = fileId) => newEvent('FileReleased', { id, batchId });

export const fileDeleted = (reason: FileEvents['FileDeleted']['reason'] = 'deleted') =>
  newEvent('FileDeleted', { id: fileId, projectId: ids.project, blobId: 'file-blob-1', bytes: 120, reason });
