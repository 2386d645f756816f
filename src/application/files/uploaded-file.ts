import * as t from 'io-ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';

/** A file whose bytes are already in the blob store. */
export interface UploadedFile {
  readonly blobId: string;
  /** The name that the client has given. */
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  /** The SHA-256 of its bytes, in hex. */
  readonly sha256: string;
}

/** Clients send it as a file in a multipart body. */
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
