import * as t from 'io-ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';

/** Events with facts about the file, whose bytes are in the blob store. */
export const fileEvents = {
  FileCreated: t.type({
    id: t.string,
    projectId: t.string,
    /** The id in the blob store. */
    blobId: t.string,
    filename: t.string,
    purpose: t.string,
    contentType: t.string,
    bytes: t.number,
    /** The SHA-256 of its bytes, in hex. */
    sha256: t.string,
    /** Lifetime from its creation on; null for a file that does not expire. */
    expiresAfterSeconds: nullable(t.number),
  }),
  /** A batch begins to read it, so it cannot be deleted. */
  FileHeld: t.type({ id: t.string, batchId: t.string }),
  /** The batch no longer reads it. */
  FileReleased: t.type({ id: t.string, batchId: t.string }),
  FileDeleted: t.type({
    id: t.string,
    projectId: t.string,
    blobId: t.string,
    bytes: t.number,
    reason: oneOf('deleted', 'expired'),
  }),
};

export type FileEvents = { [Type in keyof typeof fileEvents]: t.TypeOf<(typeof fileEvents)[Type]> };
