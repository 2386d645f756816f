import { createHash, hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { ReceivedUpload } from '#application/operations/operation.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import { type BlobStore, BlobTooLargeError } from '#blob-store/blob-store.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { type Arrival, type ArrivalLimits, arrivalFailure, heldBytesOf } from '#exchange/body.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { countReleasedBytes } from '#exchange/minor-gc.ts';
import { boundaryOf, type FormPart, MultipartScanner, multipartFailure, notMultipart } from '#exchange/multipart.ts';
import type { Authorised } from '#exchange/request.ts';
import { ByteChannel } from '#shared/async/byte-channel.ts';
import { chance } from '#shared/chance.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import type { FileSpace, SpaceReservation } from './file-space.ts';
import type { UploadedFile } from './uploaded-file.ts';

export interface FileUploadsOptions {
  readonly blobs: BlobStore;
  readonly space: FileSpace;
  readonly maxFileBytes: number;
  readonly arrival: ArrivalLimits;
  /** Null if the file does not exist. @throws UnavailableError */
  readonly blobOf: (fileId: string) => Promise<string | null>;
}

/** The beginning of every file's blob id. */
export const fileBlobPrefix = 'file-';

/** Maximum size of a multipart body without the file. */
const bytesAround = 2 * 1024 * 1024;
/** Maximum size of an upload's bytes in memory, between its connection and the blob store. */
const bytesInMemory = 1024 * 1024;

/** Receives multipart bodies, whose file is streamed to the blob store and hashed on the way. */
export class FileUploads {
  readonly #options: FileUploadsOptions;

  constructor(options: FileUploadsOptions) {
    this.#options = options;
  }

  /** @see UploadOperation.receive */
  receive = async (request: Authorised): Promise<E.Either<Failure, ReceivedUpload>> => {
    const { headers, body, caller } = request;
    const { maxFileBytes, space } = this.#options;
    const boundary = boundaryOf(headers['content-type'] ?? '');
    const encoding = headers['content-encoding'] ?? 'identity';
    if (boundary === null || encoding.toLowerCase() !== 'identity') return E.left(notMultipart);
    if (!body.isPresent) return E.left(multipartFailure({ fault: 'ended-early', faultyPart: null }));
    if (body.announcedBytes > maxFileBytes + bytesAround) return E.left(fileTooLarge(maxFileBytes));
    const reservation = space.reserve(caller.projectId);
    try {
      const shortage = await reservation.shortageOf(Math.max(0, body.announcedBytes - bytesAround));
      const received = shortage === null ? await this.#store(request, boundary, reservation) : E.left(shortage);
      if (E.isLeft(received)) reservation.release();
      return received;
    } catch (error) {
      reservation.release();
      throw error;
    }
  };

  /** Streams the file to the blob store. Removes an incomplete file. */
  async #store(
    { body, held }: Authorised,
    boundary: string,
    reservation: SpaceReservation,
  ): Promise<E.Either<Failure, ReceivedUpload>> {
    const { blobs, maxFileBytes, arrival: limits } = this.#options;
    const blobId = `${fileBlobPrefix}${chance.randomUuid()}`;
    const digest = createHash('sha256');
    const content = new ByteChannel(bytesInMemory, (bytes) => {
      held.body.giveBack(bytes.length);
      countReleasedBytes(bytes.length);
    });
    const reading = new FormReader(boundary, (bytes) => {
      digest.update(bytes);
      content.write(bytes);
    });
    const stored = blobs.put(blobId, content, maxFileBytes);
    // The blob store may fail before it reads anything.
    stored.catch(() => content.leave());
    try {
      const refusal = await this.#receiveBody(
        body.receive(limits, held.body, async (piece) => {
          const taken = reading.take(piece);
          held.body.giveBack(Math.max(0, heldBytesOf(piece) - taken));
          reading.refusal ??= await reservation.take(taken);
          return reading.refusal === null && (await content.ready());
        }),
        reading,
        stored,
      );
      const shortage = refusal ?? (await reservation.shortageOf(0));
      if (shortage !== null) return await this.#giveUp(content, stored, shortage);
      content.finish();
      const bytes = await stored;
      return E.right(this.#received(reading, { blobId, bytes, sha256: digest.digest('hex') }, reservation));
    } catch (error) {
      content.fail(error);
      await stored.catch(() => undefined);
      if (error instanceof BlobTooLargeError) return E.left(fileTooLarge(maxFileBytes));
      throw error;
    }
  }

  /** @returns why it is refused; null if it arrived completely and is a form with one file */
  async #receiveBody(
    arriving: Promise<Arrival>,
    reading: FormReader,
    stored: Promise<number>,
  ): Promise<Failure | null> {
    const arrival = await arriving;
    if (reading.refusal !== null) return reading.refusal;
    if (arrival !== 'stopped') return arrivalFailure(arrival, this.#options.maxFileBytes) ?? reading.finish();
    // The blob store stopped reading; this throws its reason.
    await stored;
    throw new Error('The blob store stopped early.');
  }

  /** Ends the upload and removes the stored bytes. */
  async #giveUp(content: ByteChannel, stored: Promise<number>, refusal: Failure): Promise<E.Either<Failure, never>> {
    content.fail(new Error('The upload was refused.'));
    await stored.catch(() => undefined);
    return E.left(refusal);
  }

  #received(
    reading: FormReader,
    stored: Pick<UploadedFile, 'blobId' | 'bytes' | 'sha256'>,
    reservation: SpaceReservation,
  ): ReceivedUpload {
    const { filename, contentType } = reading.file;
    const fields = reading.fields;
    const { blobId, ...same } = stored;
    return {
      input: {
        fields: { ...fields, file: { ...stored, filename, contentType } },
        // The hash covers the contents of the form, because its boundary differs each time.
        bodyHash: hash('sha256', JSON.stringify([filename, contentType, same, fields])),
      },
      settle: (outcome) => this.#settle(blobId, outcome),
      release: () => reservation.release(),
    };
  }

  /** Removes a blob that no file uses. If this is unknown, a sweep finds the blob later. */
  async #settle(blobId: string, outcome: E.Either<Failure, OperationResult>): Promise<void> {
    const isUsed = E.isRight(outcome) ? await this.#isUsed(blobId, outcome.right) : null;
    const isRefused = E.isLeft(outcome) && outcome.left.code !== 'unavailable';
    if (isUsed === false || isRefused) await this.#options.blobs.delete(blobId).catch(() => undefined);
  }

  /** True if a file uses the blob; null if the store cannot be asked now. */
  async #isUsed(blobId: string, success: OperationResult): Promise<boolean | null> {
    try {
      return (await this.#options.blobOf(idIn(success))) === blobId;
    } catch (error) {
      if (error instanceof UnavailableError) return null;
      throw error;
    }
  }
}

function idIn({ body }: OperationResult): string {
  return (body as { readonly id: string }).id;
}

/** Reads a form with one file. Keeps everything but the file's bytes. */
class FormReader {
  refusal: Failure | null = null;
  readonly #scanner: MultipartScanner;
  #filePart: object | null = null;
  #taken = 0;

  constructor(boundary: string, takeContent: (bytes: Buffer) => void) {
    this.#scanner = new MultipartScanner(boundary, (part, bytes) => {
      this.#filePart ??= part;
      if (part !== this.#filePart || part.name !== 'file') this.refusal ??= oneFileOnly;
      if (this.refusal !== null) return;
      this.#taken += bytes.length;
      takeContent(bytes);
    });
  }

  /** @returns the number of bytes of the piece, or of earlier bytes that were held back, that belong to the file */
  take(piece: Buffer): number {
    const before = this.#taken;
    this.#scanner.push(piece);
    if (this.#scanner.fault !== null) this.refusal ??= multipartFailure(this.#scanner);
    return this.#taken - before;
  }

  /** Must be called after the last piece. @returns the form's fault; null if it has one file */
  finish(): Failure | null {
    this.#scanner.finish();
    if (this.#scanner.fault !== null) return multipartFailure(this.#scanner);
    const named = this.#scanner.parts.filter(({ name }) => name === 'file');
    if (named.length === 0) return invalidInput([{ pointer: '/file', message: 'is required' }]);
    if (named.some(({ filename }) => filename === null)) return noFile;
    return named.length > 1 ? oneFileOnly : null;
  }

  get file(): Pick<UploadedFile, 'filename' | 'contentType'> {
    const part = this.#scanner.parts.find(({ name }) => name === 'file');
    const filename = cleanName(part?.filename ?? '');
    return { filename, contentType: contentTypeOf(part?.contentType ?? null, filename) };
  }

  /**
   * The fields of the form. An object is `a[b]` for each member `b` of `a`, as OpenAI's clients send it, or JSON, as
   * OpenAPI describes it for forms.
   */
  get fields(): JsonObject {
    const fields: Record<string, Json> = {};
    for (const { name, text } of this.#scanner.parts) {
      if (text === null) continue;
      const [, outer = '', inner = ''] = nestedName.exec(name) ?? [];
      if (knownNested.has(outer)) {
        const members = fields[outer];
        fields[outer] = { ...(isObject(members) ? members : {}), [inner]: numberOr(text) };
      } else if (knownNested.has(name)) fields[name] = objectOr(text);
      else if (knownFields.has(name)) fields[name] = text;
    }
    return fields;
  }
}

const nestedName = /^(\w+)\[(\w+)\]$/;
const knownNested = new Set(['expires_after']);
const knownFields = new Set(['purpose']);

/** The object in the text, otherwise the text, which the codec refuses. */
function objectOr(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}

/** Forms have no numbers, so a text that looks like one is converted. */
function numberOr(text: string): string | number {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

const maxNameCharacters = 255;

/** The file's name without the folders that some clients add, and without forbidden characters. */
function cleanName(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? '';
  const clean = last
    .toWellFormed()
    .replace(/\p{Cc}/gu, '')
    .trim();
  return clean === '' ? 'file' : Array.from(clean).slice(0, maxNameCharacters).join('');
}

const mediaType = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:\s*;\s*[\w-]{1,50}=[\w."-]{1,100}){0,3}$/;

/** The content type that the client sent, if any. */
function contentTypeOf(sent: FormPart['contentType'], filename: string): string {
  if (filename.toLowerCase().endsWith('.jsonl')) return 'application/jsonl';
  return sent !== null && mediaType.test(sent) ? sent : 'application/octet-stream';
}

const oneFileOnly = invalidInput([{ pointer: '/file', message: 'must be the only file' }]);
const noFile = invalidInput([{ pointer: '/file', message: 'must be a file, with a filename' }]);

function fileTooLarge(maxBytes: number): Failure {
  return failure('file-too-large', `A file may have ${maxBytes} bytes at most.`);
}
