import * as E from 'fp-ts/lib/Either.js';
import type { ProjectFile } from '#application/files/project-file.ts';
import { notFound } from '#application/operations/access-refusals.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { bodyShortageFailure } from '#exchange/body-source.ts';
import { scalarValue } from '#gateway/framing/json-members.ts';
import { type FoundPlace, pointerOf } from '#gateway/framing/json-places.ts';
import { applyEdits, asciiJson, type Edit } from '#gateway/framing/splice.ts';
import type { GatewayCall } from '#gateway/gateway-call.ts';
import type { ResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** The most bytes of all files of one call, in Base64. */
const maxInlinedBytes = 32 * 1024 * 1024;

const memberName = '"file_id"';

/** A file that a request names. */
interface NamedFile {
  readonly place: FoundPlace;
  readonly file: ProjectFile;
}

/**
 * Puts the files of a request's project into it, in place of their ids. Their bytes count in the hold of bodies before
 * they are read.
 * @returns the new bytes; null for a request without files
 * @throws UnavailableError
 */
export async function inlineFiles(
  call: GatewayCall,
  { bytes, fileIds }: ResponsesRequest,
): Promise<E.Either<Failure, Buffer | null>> {
  if (fileIds.length === 0) return E.right(null);
  if (!call.caller.scopes.has('files:read')) return E.left(noScope);
  const named = await findFiles(call, bytes, fileIds);
  if (E.isLeft(named)) return named;
  const total = named.right.reduce((sum, { file }) => sum + base64Bytes(file.bytes), 0);
  if (total > maxInlinedBytes) return E.left(tooLarge);
  // The edits, and then the new body.
  const shortage = call.bodyHold.take(total);
  if (shortage !== null) return E.left(bodyShortageFailure(shortage));
  const edits: Edit[] = [];
  for (const each of named.right) edits.push(await editOf(bytes, each));
  return E.right(applyEdits(bytes, edits));
}

const noScope = failure('scope-required', 'A file_id needs the scope files:read. Use a key that has it.');
const tooLarge = failure(
  'body-too-large',
  `The files of one call may have ${maxInlinedBytes} bytes in Base64 together, because they are sent inside of it.`,
);

async function findFiles(
  { gateway, caller }: GatewayCall,
  bytes: Buffer,
  places: ReadonlyArray<FoundPlace>,
): Promise<E.Either<Failure, ReadonlyArray<NamedFile>>> {
  const found: NamedFile[] = [];
  for (const place of places) {
    const id = scalarValue(bytes, place);
    const file = typeof id === 'string' ? await gateway.findFile(id, caller.projectId) : null;
    if (file === null) return E.left(fileNotFound(place, String(id)));
    found.push({ place, file });
  }
  return E.right(found);
}

function fileNotFound(place: FoundPlace, id: string): Failure {
  const pointer = pointerOf(place);
  const { code, detail } = notFound('file-not-found', id.slice(0, 100));
  return failure(code, detail, { errors: [{ pointer, message: 'must be the id of a file of this project' }] });
}

/** Replaces the id, with its name, by the content: an image's in `image_url`, another file's in `file_data`. */
async function editOf(bytes: Buffer, { place, file }: NamedFile): Promise<Edit> {
  const { contentType, filename } = file;
  const start = bytes.lastIndexOf(memberName, place.valueStart);
  const url = `"data:${contentType};base64,${await readBase64(file)}"`;
  const isImage = contentType.startsWith('image/');
  const text = isImage ? `"image_url":${url}` : `"filename":${asciiJson(filename)},"file_data":${url}`;
  return { start, end: place.end, text };
}

/** Reads a file in pieces, each a multiple of three bytes, so that their texts can be joined. */
async function readBase64(file: ProjectFile): Promise<string> {
  const content = await file.open();
  if (content === null) throw new UnavailableError('The content of the file is not in the blob store.');
  const texts: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of content) {
    const bytes = Buffer.concat([rest, piece as Buffer]);
    const whole = bytes.length - (bytes.length % 3);
    texts.push(bytes.toString('base64', 0, whole));
    rest = bytes.subarray(whole);
  }
  return texts.join('') + rest.toString('base64');
}

function base64Bytes(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
