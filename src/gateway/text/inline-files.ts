import * as E from 'fp-ts/lib/Either.js';
import type { ProjectFile } from '#application/files/project-file.ts';
import { notFound } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { largeBodyBytes, turn, workOfTurn } from '#exchange/turns.ts';
import {
  lastMember,
  type Members,
  readJsonRequest,
  scalarValue,
  type ValuePlace,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, type Edit, editsOf } from '#gateway/framing/splice.ts';
import type { GatewayCall } from '#gateway/gateway-call.ts';
import type { NamedId } from '#gateway/protocols/provider-ids.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { stringIn } from '#shared/json/json-scanner.ts';

/** Maximum size of all files of one call together. */
const maxInlinedBytes = 32 * 1024 * 1024;

/** Maximum size of an id. A longer text cannot be one, and is not read. */
const maxIdBytes = 1_000;

/** Number of files that are read in one turn of the event loop: the embedded stores answer without one. */
const filesPerTurn = 16;

interface RequestWithFiles {
  readonly bytes: Buffer;
  readonly files: ReadonlyArray<NamedId>;
}

export interface Inlining {
  /** The member for the address of a picture; null if pictures are like other files. */
  readonly imageMember: string | null;
  /** True for an id of an earlier turn, which stays readable when its file is gone; missing for none. */
  readonly isEarlier?: (id: NamedId) => boolean;
}

interface InlinedRequest {
  readonly bytes: Buffer;
  /** The ids of files of earlier turns that are gone. A text says so in their place. */
  readonly gone: ReadonlyArray<string>;
}

/**
 * Replaces ids by files. All that they add counts in the hold of bodies before a file is read: each file's text once,
 * and the new body.
 */
export async function inlineFiles(
  call: GatewayCall,
  request: RequestWithFiles,
  inlining: Inlining,
): Promise<E.Either<Failure, InlinedRequest>> {
  if (!call.caller.scopes.has('files:read')) return E.left(noScope);
  try {
    return await new FileInliner(call, request, inlining).inline();
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return E.left(unavailable);
  }
}

const noScope = failure('scope-required', 'A file_id needs the scope files:read. Use a key that has it.');
const unavailable = failure('unavailable', 'The files of the project cannot be reached. Try again later.', {
  retryAfterSeconds: 1,
});
const tooLarge = failure(
  'body-too-large',
  `The files of one call may add ${maxInlinedBytes} bytes together, in Base64 and with their names, because they are sent inside of it. Each mention of a file counts.`,
);

/** What is sent in place of an id: the same text for each mention of a file. */
interface Replacement {
  readonly file: ProjectFile | null;
  readonly bytes: number;
}

class FileInliner {
  readonly #call: GatewayCall;
  readonly #request: RequestWithFiles;
  readonly #inlining: Inlining;
  readonly #found = new Map<string, Replacement>();

  constructor(call: GatewayCall, request: RequestWithFiles, inlining: Inlining) {
    this.#call = call;
    this.#request = request;
    this.#inlining = inlining;
  }

  async inline(): Promise<E.Either<Failure, InlinedRequest>> {
    const { bytes, files } = this.#request;
    const missing = await this.#find();
    if (missing !== null) return E.left(missing);
    const addedBytes = files.reduce((sum, id) => sum + this.#replacementOf(id).bytes, 0);
    if (addedBytes > maxInlinedBytes) return E.left(tooLarge);
    const textBytes = [...this.#found.values()].reduce((sum, each) => sum + each.bytes, 0);
    const { held, gateway } = this.#call;
    const refusal = gateway.admission.bytes(held, 'body', textBytes + bytes.length + addedBytes);
    if (refusal !== null) return E.left(refusal);
    const edits = await this.#edits();
    const sentBytes = bytes.length + addedBytes;
    if (sentBytes > largeBodyBytes) await turn(currentWorkOwner(), 'body', sentBytes);
    const inlined = applyEdits(bytes, edits);
    held.body.giveBack(textBytes);
    const gone = [...this.#found].flatMap(([id, { file }]) => (file === null ? [id] : []));
    return E.right({ bytes: inlined, gone });
  }

  /**
   * Finds each file once.
   * @returns why the request is refused
   */
  async #find(): Promise<Failure | null> {
    const { gateway, caller } = this.#call;
    for (const id of this.#request.files) {
      const name = this.#nameOf(id);
      const known = this.#found.get(name);
      const file = known === undefined ? await gateway.findFile(name, caller.projectId) : known.file;
      if (file === null && this.#inlining.isEarlier?.(id) !== true) return fileNotFound(id, name);
      if (known !== undefined) continue;
      this.#found.set(name, { file, bytes: this.#sizeOf(file, name) });
      await turn(currentWorkOwner(), 'body', workOfTurn / filesPerTurn);
    }
    return null;
  }

  async #edits(): Promise<ReadonlyArray<Edit>> {
    const texts = new Map<string, string>();
    for (const [name, { file }] of this.#found)
      if (file !== null) texts.set(name, this.#textOf(file, await readBase64(file)));
    const edits: Edit[] = [];
    for (const ids of this.#idsByObject()) edits.push(...(await this.#editsOf(ids, texts)));
    return edits;
  }

  /** The ids by object. A name may come twice in one: its ids are replaced together. */
  #idsByObject(): Iterable<ReadonlyArray<NamedId>> {
    return Map.groupBy(this.#request.files, ({ object }) => object.valueStart).values();
  }

  async #editsOf(ids: ReadonlyArray<NamedId>, texts: ReadonlyMap<string, string>): Promise<ReadonlyArray<Edit>> {
    const edits: Edit[] = [];
    for (const id of ids) {
      const name = this.#nameOf(id);
      const text = texts.get(name) ?? (isScreenshot(id) ? blankPicture : null);
      if (text === null) return this.#goneEdits(id.object, name);
      edits.push({ start: id.nameStart, end: id.end, text });
    }
    return edits;
  }

  #nameOf({ valueStart, end }: NamedId): string {
    const { bytes } = this.#request;
    return end - valueStart > maxIdBytes
      ? `${bytes.toString('latin1', valueStart + 1, valueStart + 100)}…`
      : stringIn(bytes, valueStart, end);
  }

  #replacementOf(id: NamedId): Replacement {
    return this.#found.get(this.#nameOf(id)) as Replacement;
  }

  #sizeOf(file: ProjectFile | null, id: string): number {
    if (file === null) return Math.max(goneText(id).length, blankPicture.length);
    return this.#textOf(file, '').length + base64Bytes(file.bytes);
  }

  /** The text of a file. An image's content is in a member of its own, another file's in `file_data`. */
  #textOf({ contentType, filename }: ProjectFile, base64: string): string {
    const { imageMember } = this.#inlining;
    const url = `${asciiJson(`data:${contentType};base64,`).slice(0, -1)}${base64}"`;
    if (imageMember !== null && contentType.startsWith('image/')) return `"${imageMember}":${url}`;
    return `"filename":${asciiJson(filename)},"file_data":${url}`;
  }

  /**
   * Edits for a file that is gone. A part of an input becomes a text. Any other part, such as one of an assistant's
   * message, only loses its file.
   */
  async #goneEdits({ valueStart, end }: ValuePlace, name: string): Promise<ReadonlyArray<Edit>> {
    await turn(currentWorkOwner(), 'body', end - valueStart);
    const bytes = this.#request.bytes.subarray(valueStart, end);
    const read = await readJsonRequest(bytes, partNames, Number.POSITIVE_INFINITY);
    if (E.isLeft(read) || isInputPart(bytes, read.right.members))
      return [{ start: valueStart, end, text: goneText(name) }];
    const edits = editsOf(read.right.members, { remove: ['file_id'] });
    return edits.map((edit) => ({ ...edit, start: valueStart + edit.start, end: valueStart + edit.end }));
  }
}

const partNames = wantedNames({ type: [], file_id: [] });

function isInputPart(bytes: Buffer, members: Members): boolean {
  const type = lastMember(members, 'type');
  if (type === undefined || type.end - type.valueStart > maxIdBytes) return false;
  return String(scalarValue(bytes, type)).startsWith('input_');
}

/** True for a screenshot. In place of one, only a picture is taken. */
function isScreenshot({ pointer }: NamedId): boolean {
  return pointer.endsWith('/output/file_id');
}

/** A picture of one pixel. */
const blankPicture =
  '"image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="';

function goneText(id: string): string {
  return `{"type":"input_text","text":${asciiJson(`[file ${id} is no longer available]`)}}`;
}

function fileNotFound({ pointer }: NamedId, name: string): Failure {
  const { code, detail } = notFound('file-not-found', name.slice(0, 100));
  return failure(code, detail, { errors: [{ pointer, message: 'must be the id of a file of this project' }] });
}

/** Reads the file in pieces, each a multiple of three bytes, so that their texts can be joined. */
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
