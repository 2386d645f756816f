import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { keyHolder } from '#application/access/key-resolver.ts';
import type { FileSpace } from '#application/files/file-space.ts';
import { fileBlobPrefix } from '#application/files/file-uploads.ts';
import type { Origin } from '#application/streams/stream-state.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { type BatchState, batch } from '#domain/batch/batch.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import type { FileEvents } from '#domain/file/events.ts';
import { type FileState, file, fileMade } from '#domain/file/file.ts';
import type { Caller, Tenant } from '#domain/shared/access.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { abortable, delay } from '#shared/async/timed-waits.ts';
import { chance } from '#shared/chance.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { TermOverError } from './run-stop.ts';

export interface BatchStoreOptions {
  readonly writer: StreamWriter;
  readonly blobs: BlobStore;
  readonly space: Pick<FileSpace, 'shortageOf' | 'hasDiskRoomFor'>;
  readonly now: () => Date;
}

type Decide<State, Events> = (state: State) => E.Either<Failure, ReadonlyArray<EventOf<Events>>>;

const retryMs = 500;

/**
 * What one run of a batch reads and records. A run whose term was lost may still record answers: the stream of the batch
 * refuses it as soon as another run has taken the batch.
 */
export class BatchStore {
  readonly #options: BatchStoreOptions;
  readonly #id: string;
  readonly #recording: AbortSignal;
  #known: { readonly origin: Origin; readonly tenant: Tenant } | null = null;

  /** @param recording aborts with a `TermOverError` when the run records nothing more */
  constructor(options: BatchStoreOptions, id: string, recording: AbortSignal) {
    this.#options = options;
    this.#id = id;
    this.#recording = recording;
  }

  /** @throws UnavailableError; TermOverError if the batch does not exist */
  async load(): Promise<NonNullable<BatchState>> {
    const { state } = await this.#options.writer.load(batch, this.#id);
    if (state === null) throw new TermOverError(`There is no batch ${this.#id}.`);
    return state;
  }

  /** The state as this node knows it. It may lack the newest events for a moment. */
  async loadCached(): Promise<NonNullable<BatchState>> {
    const { state } = await this.#options.writer.loadCached(batch, this.#id);
    return state ?? this.load();
  }

  /** @throws TermOverError, UnavailableError */
  async record(decide: Decide<BatchState, BatchEvents>): Promise<void> {
    const { origin } = await this.#loadOrigin();
    this.#recording.throwIfAborted();
    const written = await this.#options.writer.write({
      entity: batch,
      id: this.#id,
      origin,
      decide: ({ state }) =>
        E.map((events: ReadonlyArray<EventOf<BatchEvents>>) => ({ events, tenant: null }))(decide(state)),
    });
    if (E.isLeft(written)) throw errorOf(written.left);
  }

  /** Records on a file of the batch's project. @throws TermOverError, UnavailableError */
  async recordFile(
    fileId: string,
    decide: (state: FileState) => ReadonlyArray<EventOf<FileEvents>>,
  ): Promise<FileState> {
    const { origin, tenant } = await this.#loadOrigin();
    this.#recording.throwIfAborted();
    const written = await this.#options.writer.write({
      entity: file,
      id: fileId,
      origin,
      decide: ({ state }) => E.right({ events: decide(state), tenant: state === null ? tenant : null }),
    });
    if (E.isLeft(written)) throw errorOf(written.left);
    return written.right.stream.state;
  }

  /**
   * The holder of the batch's key; null after the key was revoked or has expired.
   * @param reads the key's stream; else the holder may be the one that this node knows
   * @throws UnavailableError
   */
  async holder(keyId: string, reads = true): Promise<Caller | null> {
    const { writer } = this.#options;
    const stream = await (reads ? writer.load(apiKey, keyId) : writer.loadCached(apiKey, keyId));
    const { caller, expiresAt } = keyHolder(stream, 0);
    return expiresAt > this.#options.now().getTime() ? caller : null;
  }

  /**
   * Makes the file unless an earlier run has done so.
   * @returns the id of the file
   * @throws TermOverError, UnavailableError
   */
  async makeFile(
    facts: Pick<FileEvents['FileCreated'], 'id' | 'projectId' | 'filename' | 'contentType' | 'expiresAfterSeconds'>,
    content: AsyncIterable<Uint8Array>,
    expectedBytes: number,
  ): Promise<string> {
    const { writer, blobs, space } = this.#options;
    const made = (await writer.load(file, facts.id)).state;
    if (made !== null) return facts.id;
    if (!(await space.hasDiskRoomFor(expectedBytes))) throw new UnavailableError('The disk has too little free space.');
    const blobId = `${fileBlobPrefix}${chance.randomUuid()}`;
    const digest = createHash('sha256');
    const hashed = async function* () {
      for await (const piece of content) {
        digest.update(piece);
        yield piece;
      }
    };
    const bytes = await blobs.put(blobId, hashed(), Number.MAX_SAFE_INTEGER);
    const created = { ...facts, blobId, purpose: 'batch_output', bytes, sha256: digest.digest('hex') };
    const state = await this.recordFile(facts.id, (before) => fileMade(created, before));
    if (state?.blobId !== blobId) await blobs.delete(blobId);
    return facts.id;
  }

  /**
   * Retries work until it succeeds. It does not wait for a call that runs when recording ends.
   * @throws TermOverError, or any other error than `UnavailableError`
   */
  async persist<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await abortable(this.#recording, work);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        await delay(retryMs, this.#recording);
        this.#recording.throwIfAborted();
      }
    }
  }

  /** Loads the origin of all events: the key that created the batch. */
  async #loadOrigin() {
    if (this.#known === null) {
      const { id, metadata } = await this.#options.writer.eventAt(batch, this.#id, 0);
      const { actor, requestId, $correlationId, organizationId, projectId, partnerId } = metadata;
      this.#known = {
        origin: { actor, requestId, correlationId: $correlationId, causationId: id },
        tenant: { organizationId, projectId, partnerId },
      };
    }
    return this.#known;
  }
}

function errorOf({ code, detail }: Failure): Error {
  if (code === 'batch-taken-over') return new TermOverError(detail);
  if (code === 'unavailable' || code === 'too-many-conflicts') return new UnavailableError(detail);
  return new Error(detail);
}
