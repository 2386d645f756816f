import type { LineCalls } from '#application/batches/line-calls.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { type BatchPart, type BatchState, batchPartsOf } from '#domain/batch/batch.ts';
import { hasLine } from '#domain/batch/line-set.ts';
import { derivedFileId } from '#domain/file/file.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { unansweredLine } from './answered-line.ts';
import type { BatchStore } from './batch-store.ts';
import type { NumberedLine } from './read-lines.ts';

type What = 'output' | 'error';
type Known = NonNullable<BatchState>;

export interface ResultFilesOptions {
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly store: BatchStore;
  /** Reads the lines from the beginning of the input. */
  readonly lines: () => AsyncIterable<NumberedLine>;
  readonly read: (line: Buffer) => ReturnType<LineCalls['read']>;
}

/** Makes the result files from the parts of a batch. */
export class ResultFiles {
  readonly #options: ResultFilesOptions;
  readonly #batch: Known;

  constructor(options: ResultFilesOptions, batch: Known) {
    this.#options = options;
    this.#batch = batch;
  }

  /** Writes the file unless an earlier run has done so. @returns the file's id; null if there is nothing to write */
  async write(what: What): Promise<string | null> {
    const { store } = this.#options;
    const { facts, projectId, outputExpiresAfterSeconds: expiresAfterSeconds } = this.#batch;
    const bytes = batchPartsOf(this.#batch).reduce((sum, part) => sum + lengthOf(part, what), 0);
    const listsUnasked = what === 'error' && (await this.#hasUnasked());
    if (bytes === 0 && !listsUnasked) return null;
    const filename = `${facts.id}_${what}.jsonl`;
    const id = derivedFileId(facts.id, what);
    const file = { id, projectId, filename, contentType: 'application/jsonl', expiresAfterSeconds };
    return store.persist(() => store.makeFile(file, this.#content(what, listsUnasked), bytes));
  }

  async *#content(what: What, listsUnasked: boolean): AsyncGenerator<Uint8Array> {
    for (const part of batchPartsOf(this.#batch)) yield* this.#contentOf(part, what);
    if (!listsUnasked) return;
    for await (const { bytes } of this.#unasked()) {
      yield unansweredLine(this.#batch.facts.id, await this.#customIdOf(bytes), windowOver);
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

  /** True if lines were not asked. Only lines that the completion window cut off are listed. */
  async #hasUnasked(): Promise<boolean> {
    if (this.#batch.outcome !== 'expired' || !this.#batch.isChecked) return false;
    for await (const _ of this.#unasked()) return true;
    return false;
  }

  async *#unasked(): AsyncGenerator<NumberedLine> {
    for await (const line of this.#options.lines()) {
      try {
        if (!hasLine(this.#batch.done, line.number)) yield line;
      } finally {
        line.release();
      }
    }
  }

  async #customIdOf(bytes: Buffer | null): Promise<string> {
    const line = await this.#options.read(bytes ?? Buffer.alloc(0));
    return 'code' in line ? '' : line.customId;
  }
}

function lengthOf({ outputBytes, errorBytes }: BatchPart, what: What): number {
  return what === 'output' ? outputBytes : errorBytes;
}

const windowOver = {
  code: 'batch_expired',
  message: 'This request could not be executed before the completion window expired.',
};
