import { invalidInput } from '#application/operations/input-errors.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import type { MultipartFault, MultipartScanner } from './multipart-scanner.ts';

/** The refusal of a body that is not a form. */
export const notMultipart = failure(
  'unsupported-media-type',
  'The body must be multipart/form-data with a boundary, uncompressed.',
);

const faultMessages: Readonly<Record<MultipartFault, string>> = {
  'ended-early': 'ends before its last boundary',
  malformed: 'is not multipart/form-data as RFC 7578 has it',
  'too-many-parts': 'has more than 1000 parts',
  'ambiguous-part': 'must have one Content-Disposition header with one name, on one line',
  'text-too-long': 'has a field of more than 1 MiB that is not a file: a file has a filename',
};

/** The failure for a fault of a form. */
export function multipartFailure({ fault, faultyPart }: Pick<MultipartScanner, 'fault' | 'faultyPart'>): Failure {
  const pointer = faultyPart === null ? '' : pointerTo([faultyPart]);
  return invalidInput([{ pointer, message: faultMessages[fault ?? 'malformed'] }]);
}
