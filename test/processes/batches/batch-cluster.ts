import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as E from 'fp-ts/lib/Either.js';
import type { LineCalls, LineOutcome } from '#application/batches/line-calls.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { batch, cancelRequested } from '#domain/batch/batch.ts';
import { file } from '#domain/file/file.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { CallSlots } from '#exchange/call-slots.ts';
import { readLine } from '#gateway/batch/read-line.ts';
import { runTerm } from '#leases/term.ts';
import { BatchRunner, type BatchRunnerOptions } from '#processes/batches/batch-runner.ts';
import type { BatchStoreOptions } from '#processes/batches/batch-store.ts';
import { LeftLines } from '#processes/batches/left-lines.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { batchCreated, batchId } from '#test/support/events/batch-events.ts';
import { fileCreated, fileId } from '#test/support/events/file-events.ts';
import { apiKeyCreated } from '#test/support/events/tenant-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';

const origin = {
  actor: { keyId: ids.key, keyType: 'project' },
  requestId: 'request-1',
  correlationId: 'request-1',
  causationId: 'request-1',
} as const;

const lineOf = (customId: string) =>
  JSON.stringify({ custom_id: customId, method: 'POST', url: '/v1/chat/completions', body: { model: 'large' } });

/** The answer to every line. */
export const answer: LineOutcome = {
  kind: 'answer',
  status: 200,
  requestId: 'provider-1',
  contentType: 'application/json',
  body: Buffer.from('{}'),
  release: () => undefined,
};

/** What keeps a node's batches between its terms. */
export interface BatchNode {
  readonly left: LeftLines;
  readonly slots: CallSlots;
  readonly lines: ByteBudget;
  /** Aborts when it stops. */
  readonly stopping: AbortSignal;
}

/** A term that a test ends. */
export class TestTerm {
  readonly #lost = new AbortController();
  /** Resolves when its work has ended or was left. */
  readonly ended: Promise<void>;

  constructor(work: (signal: AbortSignal, isHeld: () => boolean) => Promise<void>) {
    this.ended = work(this.#lost.signal, () => !this.#lost.signal.aborted);
  }

  lose(): void {
    this.#lost.abort();
  }
}

/** A batch on nodes that share stores in memory. Its test moves the time, and says which node has the lease. */
export class BatchCluster {
  readonly service = new Service();
  /** The custom ids of the lines that were sent, in order. */
  readonly asked: string[] = [];
  readonly errors: object[] = [];
  /** Answers a line. */
  call: LineCalls['call'] = async () => answer;
  /** Called before each put of a blob. */
  beforePut: (id: string) => Promise<void> = async () => undefined;
  /** Called before each append to the log. */
  beforeAppend: () => Promise<void> = async () => undefined;
  /** Called before each read of a stream. */
  beforeRead: () => Promise<void> = async () => undefined;
  /** The open batches, as the read model shows them. */
  list: () => Promise<ReadonlyArray<string>> = async () => [batchId];
  /** The progress of the read model. */
  positions: BatchRunnerOptions['positions'] = { passed: async () => 'reached' };
  readonly #blobs = new Map<string, Buffer>();
  #token = 0;

  /** Creates a batch with a number of lines. */
  async create(lines: number): Promise<void> {
    await this.#write(apiKey, ids.key, [apiKeyCreated({ scopes: ['batches:write', 'gateway:write'] })]);
    const input = Buffer.from(Array.from({ length: lines }, (_, line) => `${lineOf(`line-${line}`)}\n`).join(''));
    this.#blobs.set('input', input);
    const inputBytes = input.length;
    const facts = { id: fileId, projectId: ids.project as string, blobId: 'input', bytes: inputBytes };
    await this.#write(file, fileId, [fileCreated(facts)]);
    const made = { keyId: ids.key, inputFileId: fileId, inputBlobId: 'input', inputBytes };
    await this.#write(batch, batchId, [batchCreated({ ...made, projectId: ids.project })]);
  }

  newNode(calls: number, maxLineBytes = 1e9, stopping = new AbortController().signal): BatchNode {
    const lines = new ByteBudget({ maxBytesPerProject: maxLineBytes, maxBytes: 1e9 });
    return { left: new LeftLines(this.#stores()), slots: new CallSlots(calls), lines, stopping };
  }

  /** Begins the next term, on a node. */
  begin(node: BatchNode): TestTerm {
    this.#token += 1;
    const token = this.#token;
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (fields: object) => void this.errors.push(fields),
    };
    const options = this.#options(node, log);
    return new TestTerm((signal, isHeld) =>
      runTerm({ name: 'batches', token, signal, isHeld, log }, (term) =>
        new BatchRunner(options, { ...term, stopping: node.stopping }).run(),
      ),
    );
  }

  /** Returns the custom ids in the output of the batch; null before it has ended so. */
  async output(status = 'completed'): Promise<ReadonlyArray<string> | null> {
    const { state } = await this.service.writer.load(batch, batchId);
    if (state?.facts.status !== status) return null;
    const made = await this.service.writer.load(file, state.facts.output_file_id ?? '');
    const lines = String(this.#blobs.get(made.state?.blobId ?? ''))
      .trimEnd()
      .split('\n');
    return lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
  }

  async revokeKey(): Promise<void> {
    await this.#write(apiKey, ids.key, [newEvent('ApiKeyRevoked', { id: ids.key, descendantKeyIds: null })]);
  }

  async cancel(): Promise<void> {
    const { state } = await this.service.writer.load(batch, batchId);
    const decided = cancelRequested(state);
    assert.ok(E.isRight(decided));
    await this.#write(batch, batchId, decided.right);
  }

  get timesAskedTwice(): number {
    return this.asked.length - new Set(this.asked).size;
  }

  #options(node: BatchNode, log: BatchRunnerOptions['log']): BatchRunnerOptions {
    const call: LineCalls['call'] = (line, request) => {
      this.asked.push(line.customId);
      return this.call(line, request);
    };
    const read: LineCalls['read'] = (line, endpoint) => readLine(line, endpoint, 1_000);
    const documents = {
      list: async () => ({
        documents: (await this.list()).map((id) => ({ id, order: 0, position: 0, value: { projectId: ids.project } })),
        next: null,
      }),
    };
    return {
      ...node,
      ...this.#stores(),
      calls: { read: read, call },
      checks: new CallSlots(1),
      maxLineBytes: 10_000,
      documents,
      positions: this.positions,
      tail: new InMemoryEventStore().tail,
      log,
    } as unknown as BatchRunnerOptions;
  }

  #stores(): BatchStoreOptions {
    const { service } = this;
    const append: typeof service.store.append = async (...given) => {
      await this.beforeAppend();
      return service.store.append(...given);
    };
    const read: typeof service.store.read = async (...given) => {
      await this.beforeRead();
      return service.store.read(...given);
    };
    const store = new Proxy(service.store, {
      get: (target, name) => {
        if (name === 'append') return append;
        if (name === 'read') return read;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    return {
      writer: new StreamWriter({ store }),
      blobs: this.#blobStore(),
      space: { shortageOf: async () => null, hasDiskRoomFor: async () => true },
      now: () => new Date(clock.time()),
    } as unknown as BatchStoreOptions;
  }

  #blobStore(): Pick<BlobStore, 'put' | 'get' | 'delete'> {
    return {
      put: async (id, content) => {
        await this.beforePut(id);
        const bytes = await buffer(content);
        this.#blobs.set(id, bytes);
        return bytes.length;
      },
      get: async (id, range) => {
        const bytes = this.#blobs.get(id);
        return bytes === undefined ? null : Readable.from([bytes.subarray(range?.start, range?.end)]);
      },
      delete: async (id) => void this.#blobs.delete(id),
    };
  }

  async #write<State, Events>(entity: Entity<State, Events>, id: string, events: ReadonlyArray<EventOf<Events>>) {
    const decide = () => E.right({ events, tenant: tenants.project });
    assert.ok(E.isRight(await this.service.writer.write({ entity, id, origin, decide })));
  }
}

/** Answers after a time, as a model does, and ends with its signal. */
export function answersAfter(milliseconds: () => number): LineCalls['call'] {
  return async (_, { signal }) => {
    await delay(milliseconds(), signal);
    return signal.aborted ? { kind: 'ended' } : answer;
  };
}

export const unavailable = () => new UnavailableError('away');
