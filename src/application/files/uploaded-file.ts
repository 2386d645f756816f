import * as t from 'io-ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';

/** A file whose bytes are already in the blob store, and facts about them. */
export interface UploadedFile {
  readonly blobId: string;
  /** The client's name of it. */
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Of its bytes, in hex. */
  readonly sha256: string;
}

/** The member of an input that holds an upload. To clients it is a file in a multipart body. */
export const UploadedFile = withJsonSchema(
  new t.Type<UploadedFile, UploadedFile, unknown>(
    'uploaded file',
    (value): value is UploadedFile => typeof value === 'object' && value !== null && 'blobId' in value,
    (value, context) =>
      value === undefined ? t.failure(value, context, 'is required') : t.success(value as UploadedFile),
    t.identity,
  ),
  { type: 'string', format: 'binary' },
);
