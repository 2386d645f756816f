import type { Readable } from 'node:stream';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { file, isFileThere } from '#domain/file/file.ts';
import { clock } from '#shared/clock.ts';

/** A file that a call sends to a provider. */
export interface ProjectFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  /** @throws UnavailableError */
  readonly open: () => Promise<Readable | null>;
}

export interface FilePlaces {
  readonly writer: StreamWriter;
  readonly blobs: Pick<BlobStore, 'get'>;
}

/** Null if the project has no file of this id. @throws UnavailableError */
export async function findProjectFile(
  { writer, blobs }: FilePlaces,
  fileId: string,
  projectId: string,
): Promise<ProjectFile | null> {
  if (!/^file-[0-9a-z]{8,64}$/.test(fileId)) return null;
  const { state } = await writer.load(file, fileId);
  if (!isFileThere(state, new Date(clock.time()).toISOString()) || state.projectId !== projectId) return null;
  const { data } = await writer.eventAt(file, fileId, 0);
  const { filename, contentType } = data;
  return {
    filename: String(filename),
    contentType: String(contentType),
    bytes: state.bytes,
    open: () => blobs.get(state.blobId),
  };
}
