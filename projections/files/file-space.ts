import type { BatchEvents } from '#domain/batch/events.ts';
import type { FileEvents } from '#domain/file/events.ts';
import { ignored, projection } from '#projection-engine/projection.ts';

/** The space that a project uses in the blob store. */
export interface FileSpaceDocument {
  readonly bytes: number;
}

/** Counts each project's files, and the finished lines of its batches. */
export const fileSpace = projection<FileSpaceDocument, FileEvents & BatchEvents>({
  name: 'file-space',
  version: 1,
  keys: ({ metadata }) => (metadata.projectId === null ? [] : [metadata.projectId]),
  on: {
    FileCreated: (document, { data }) => after(document, data.bytes),
    FileHeld: ignored,
    FileReleased: ignored,
    FileDeleted: (document, { data }) => after(document, -data.bytes),
    BatchCreated: ignored,
    BatchTaken: ignored,
    BatchChecked: ignored,
    BatchLinesCompleted: (document, { data }) => after(document, data.outputBytes + data.errorBytes),
    BatchCancelRequested: ignored,
    BatchFinalizing: ignored,
    BatchEnded: (document, { data }) => after(document, -data.partBytes),
  },
  indexes: [],
});

function after(document: FileSpaceDocument | null, bytes: number): FileSpaceDocument {
  return { bytes: (document?.bytes ?? 0) + bytes };
}
