import type { LineAnswer } from '#application/batches/line-calls.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { type BatchPart, type BatchState, partsOf } from '#domain/batch/batch.ts';
import { hasLine, rangesOf } from '#domain/batch/line-set.ts';
import { derivedFileId } from '#domain/file/file.ts';
import { derivedCharacters } from '#domain/shared/derived-characters.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { BatchStore } from './batch-store.ts';
import type { NumberedLine } from './read-lines.ts';

/** Finished lines that are to be recorded. */
export interface PartToRecord {
  readonly part: number;
  readonly lines: string;
  readonly completed: number;
  readonly failed: number;
  readonly output: Buffer;
  readonly errors: Buffer;
}

export interface PartRecorderOptions {
  /** The number of the next part. */
  readonly firstPart: number;
  /** Stores a part and records it, with any number of retries. @throws TermOverError */
  readonly record: (part: PartToRecord) => Promise<void>;
  /** Called once, when a part can never be recorded. */
  readonly onFailure: () => void;
  /** The longest time from the end of a line until its part is recorded. Default 200. */
  readonly gatherMs?: number;
}

/** A part of this size is recorded at once. */
const fullPartBytes = 4 * 1024 * 1024;
/** The most unrecorded bytes and lines. Beyond one of them no further line is called. */
const maxWaitingBytes = 16 * 1024 * 1024;
const maxWaitingLines = 5_000;
const defaultGatherMs = 200;

/** Records finished lines several times a second, in parts, in the order in which they were finished. */
export class PartRecorder {
  readonly #options: PartRecorderOptions;
  #part: number;
  #waiting: FinishedLine[] = [];
  #waitingBytes = 0;
  #recording: Promise<void> | null = null;
  #gathered: () => void = ignore;
  #onRoom: () => void = ignore;
  #failure: { readonly error: unknown } | null = null;

  constructor(options: PartRecorderOptions) {
    this.#options = options;
    this.#part = options.firstPart;
  }

  add(line: FinishedLine): void {
    if (this.#failure !== null) return;
    this.#waiting.push(line);
    this.#waitingBytes += line.text.length;
    this.#recording ??= this.#recordAll();
    if (this.#waitingBytes >= fullPartBytes) this.#gathered();
  }

  /** Waits until another line may be asked. */
  async ready(): Promise<void> {
    while (this.#failure === null && this.#isFull()) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
  }

  /** Waits until everything is recorded. @throws what `record` throws */
  async finish(): Promise<void> {
    this.#gathered();
    await this.#recording;
    if (this.#failure !== null) throw this.#failure.error;
  }

  #isFull(): boolean {
    return this.#waitingBytes >= maxWaitingBytes || this.#waiting.length >= maxWaitingLines;
  }

  async #recordAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#gather();
        await this.#recordNext();
      }
    } catch (error) {
      this.#failure = { error };
      this.#options.onFailure();
    } finally {
      this.#recording = null;
      this.#onRoom();
    }
  }

  #gather(): Promise<void> {
    if (this.#waitingBytes >= fullPartBytes) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.gatherMs ?? defaultGatherMs);
      this.#gathered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #recordNext(): Promise<void> {
    const lines = this.#waiting;
    const bytes = this.#waitingBytes;
    this.#waiting = [];
    const errors = lines.filter(({ isError }) => isError);
    const outputs = lines.filter(({ isError }) => !isError);
    await this.#options.record({
      part: this.#part,
      lines: rangesOf(lines.map(({ number }) => number)),
      completed: outputs.length,
      failed: errors.length,
      output: Buffer.concat(outputs.map(({ text }) => text)),
      errors: Buffer.concat(errors.map(({ text }) => text)),
    });
    this.#part += 1;
    // Lines that are being recorded take memory too.
    this.#waitingBytes -= bytes;
    this.#onRoom();
  }
}

function ignore(): void {}

/** A finished line, as the output or the error file contains it. */
export interface FinishedLine {
  readonly number: number;
  readonly isError: boolean;
  readonly text: Buffer;
}

/** Makes an answered line, with status and body. A success belongs to the output, any other answer to the errors. */
export function answeredLine(
  batchId: string,
  { number, customId }: { readonly number: number; readonly customId: string },
  { status, requestId, contentType, body }: Omit<LineAnswer, 'kind' | 'release'>,
): FinishedLine {
  const head = JSON.stringify({ id: requestIdOf(batchId, customId), custom_id: customId });
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":`;
  const text = Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"response":${response}`),
    bodyOnOneLine(contentType, body),
    Buffer.from('},"error":null}\n'),
  ]);
  return { number, isError: status < 200 || status > 299, text };
}

/** Makes a line without an answer. */
export function unansweredLine(batchId: string, customId: string, error: { code: string; message: string }): Buffer {
  const id = requestIdOf(batchId, customId);
  return Buffer.from(`${JSON.stringify({ id, custom_id: customId, response: null, error })}\n`);
}

/** Returns the custom id of a checked line. */
export function customIdIn(bytes: Buffer | null): string {
  return String((JSON.parse(bytes?.toString('utf8') ?? '{}') as { custom_id?: unknown }).custom_id ?? '');
}

function requestIdOf(batchId: string, customId: string): string {
  return `batch_req_${derivedCharacters(`${batchId}\n${customId}`, 24)}`;
}

/**
 * Keeps JSON as it is, except that line ends, which are only between its values, become blanks. Anything else becomes
 * a JSON string.
 */
function bodyOnOneLine(contentType: string, body: Buffer): Buffer {
  if (!/[/+]json\b/i.test(contentType)) return Buffer.from(JSON.stringify(body.toString('utf8')));
  if (!body.includes(0x0a) && !body.includes(0x0d)) return body;
  return Buffer.from(body.toString('utf8').replace(/[\r\n]+/g, ' '));
}

type What = 'output' | 'error';
type Known = NonNullable<BatchState>;

export interface ResultFilesOptions {
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly store: BatchStore;
  /** Reads the input from its beginning. */
  readonly lines: () => AsyncIterable<NumberedLine>;
}

/** Writes the output file and the error file of a batch from its parts. */
export class ResultFiles {
  readonly #options: ResultFilesOptions;
  readonly #batch: Known;

  constructor(options: ResultFilesOptions, batch: Known) {
    this.#options = options;
    this.#batch = batch;
  }

  /** Writes one of the files, unless an earlier run has done so. @returns its id; null if there is nothing to write */
  async write(what: What): Promise<string | null> {
    const { store } = this.#options;
    const { facts, projectId, outputExpiresAfterSeconds: expiresAfterSeconds } = this.#batch;
    const bytes = partsOf(this.#batch).reduce((sum, part) => sum + lengthOf(part, what), 0);
    const listsUnasked = what === 'error' && (await this.#hasUnasked());
    if (bytes === 0 && !listsUnasked) return null;
    const filename = `${facts.id}_${what}.jsonl`;
    const id = derivedFileId(facts.id, what);
    const file = { id, projectId, filename, contentType: 'application/jsonl', expiresAfterSeconds };
    return store.persist(() => store.makeFile(file, this.#content(what, listsUnasked), bytes));
  }

  async *#content(what: What, listsUnasked: boolean): AsyncGenerator<Uint8Array> {
    for (const part of partsOf(this.#batch)) yield* this.#contentOf(part, what);
    if (!listsUnasked) return;
    for await (const { bytes } of this.#unasked()) {
      yield unansweredLine(this.#batch.facts.id, customIdIn(bytes), windowOver);
    }
  }

  async *#contentOf(part: BatchPart, what: What): AsyncGenerator<Uint8Array> {
    const start = what === 'output' ? 0 : part.outputBytes;
    const length = lengthOf(part, what);
    if (length === 0) return;
    const content = await this.#options.blobs.get(part.blobId, { start, end: start + length });
    if (content === null) throw new UnavailableError(`The part ${part.blobId} of a batch is not in the blob store.`);
    yield* content as AsyncIterable<Uint8Array>;
  }

  /** Only lines that the completion window cut off are listed. */
  async #hasUnasked(): Promise<boolean> {
    if (this.#batch.outcome !== 'expired' || !this.#batch.isChecked) return false;
    for await (const _ of this.#unasked()) return true;
    return false;
  }

  async *#unasked(): AsyncGenerator<NumberedLine> {
    for await (const line of this.#options.lines()) if (!hasLine(this.#batch.done, line.number)) yield line;
  }
}

function lengthOf({ outputBytes, errorBytes }: BatchPart, what: What): number {
  return what === 'output' ? outputBytes : errorBytes;
}

const windowOver = {
  code: 'batch_expired',
  message: 'This request could not be executed before the completion window expired.',
};
