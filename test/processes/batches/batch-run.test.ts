import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as E from 'fp-ts/lib/Either.js';
import type { BatchLine, LineCalls, LineOutcome } from '#application/batches/line-calls.ts';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { batch } from '#domain/batch/batch.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import { file } from '#domain/file/file.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { CallSlots } from '#exchange/call-slots.ts';
import { readLine } from '#gateway/batch/read-line.ts';
import { BatchRun, type BatchRunOptions, type BatchTerm } from '#processes/batches/batch-run.ts';
import { LeftLines } from '#processes/batches/left-lines.ts';
import { batchCreated, batchId } from '#test/support/events/batch-events.ts';
import { fileCreated, fileId } from '#test/support/events/file-events.ts';
import { apiKeyCreated } from '#test/support/events/tenant-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';

const origin = {
  actor: { keyId: ids.key, keyType: 'project' },
  requestId: 'request-1',
  correlationId: 'request-1',
  causationId: 'request-1',
} as const;

const dayMs = 24 * 60 * 60 * 1_000;
const alone: BatchTerm = {
  leaseToken: 0,
  signal: new AbortController().signal,
  stopping: new AbortController().signal,
  isHeld: () => true,
  beganAt: -10_000,
};

const lineOf = (customId: string) =>
  JSON.stringify({ custom_id: customId, method: 'POST', url: '/v1/chat/completions', body: { model: 'large' } });

const answer = (status = 200): LineOutcome => ({
  kind: 'answer',
  status,
  requestId: 'provider-1',
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify({ status })),
  release: () => undefined,
});

/** Batches of a service in memory, on a clock that the test moves. */
class Batches {
  readonly clock = { ms: Date.parse('2026-01-01T00:00:00.000Z') };
  readonly now = () => new Date(this.clock.ms);
  readonly service = new Service(undefined, { now: this.now });
  /** The custom ids of the lines that were sent, in order. */
  readonly asked: string[] = [];
  answers: (customId: string) => LineOutcome | Promise<LineOutcome> = () => answer();
  slots = new CallSlots(2);
  lines = new ByteBudget({ maxBytesPerProject: 1e9, maxBytes: 1e9 });
  quotaBytes = 1e9;
  readonly blobs: BlobStore;
  readonly #folder: string;

  private constructor(blobs: BlobStore, folder: string) {
    this.blobs = blobs;
    this.#folder = folder;
  }

  /** @param scopes of the key that creates the batches */
  static async open(scopes = ['batches:write', 'gateway:write']): Promise<Batches> {
    const folder = await mkdtemp(join(tmpdir(), 'batch-run-'));
    const batches = new Batches(await openFolderBlobStore(folder), folder);
    await batches.#write(apiKey, ids.key, [apiKeyCreated({ scopes })]);
    return batches;
  }

  /** Creates a batch with these lines, each of at least some bytes. @param other members that differ from those of the first batch */
  async create(
    customIds: ReadonlyArray<string>,
    other = { batchId, fileId, projectId: ids.project as string },
    lineBytes = 0,
  ) {
    const input = customIds.map((id) => `${lineOf(id).padEnd(lineBytes)}\n`).join('');
    const inputBlobId = `file-${other.batchId}`;
    const content = async function* () {
      yield Buffer.from(input);
    };
    const inputBytes = await this.blobs.put(inputBlobId, content(), 1_000_000);
    const { projectId } = other;
    await this.#write(file, other.fileId, [
      fileCreated({ id: other.fileId, projectId, blobId: inputBlobId, bytes: inputBytes }),
    ]);
    const facts = { id: other.batchId, projectId, keyId: ids.key, inputFileId: other.fileId, inputBlobId, inputBytes };
    await this.#write(batch, other.batchId, [batchCreated(facts)]);
  }

  run(id = batchId, term = alone): Promise<void> {
    const calls: LineCalls = {
      read: (line, endpoint) => readLine(line, endpoint, 1_000),
      call: async (line: BatchLine) => {
        this.asked.push(line.customId);
        return this.answers(line.customId);
      },
    };
    const { blobs, slots, now } = this;
    const { writer } = this.service;
    const space = {
      shortageOf: async (_: string, bytes: number) =>
        bytes > this.quotaBytes ? failure('files-quota-exceeded', 'The project has no room.') : null,
      hasDiskRoomFor: async () => true,
    };
    const log = { warn: () => undefined, error: (fields: object) => assert.fail(JSON.stringify(fields)) };
    const stores = { writer, blobs, space: space as unknown as BatchRunOptions['space'], now };
    const left = new LeftLines(stores);
    const options = { ...stores, calls, slots, checks: new CallSlots(1), left, log };
    return new BatchRun({ ...options, maxLineBytes: 10_000, lines: this.lines }, id, term).run();
  }

  async revokeKey(): Promise<void> {
    await this.#write(apiKey, ids.key, [newEvent('ApiKeyRevoked', { id: ids.key, descendantKeyIds: null })]);
  }

  /** Returns the batch as a client reads it, and the lines of its files. */
  async result(id = batchId) {
    const { state } = await this.service.writer.load(batch, id);
    assert.ok(state);
    const { facts } = state;
    return {
      status: facts.status,
      output: await this.#linesOf(facts.output_file_id),
      errors: await this.#linesOf(facts.error_file_id),
    };
  }

  /** Returns the codes with which the batch failed. */
  async errorCodes(id = batchId): Promise<ReadonlyArray<string>> {
    const { state } = await this.service.writer.load(batch, id);
    const { data } = await this.service.writer.eventAt(batch, id, state?.errorsRevision ?? -1);
    return (data as BatchEvents['BatchFinalizing']).errors.map(({ code }) => code);
  }

  async close(): Promise<void> {
    assert.deepEqual([this.lines.bytes, this.lines.projects], [0, 0], 'no line counts any more');
    await this.blobs.close();
    await rm(this.#folder, { recursive: true });
  }

  async #linesOf(id: string | null) {
    if (id === null) return null;
    const { state } = await this.service.writer.load(file, id);
    const content = await this.blobs.get(state?.blobId ?? '');
    assert.ok(content);
    const lines = (await text(content)).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as { custom_id: string; response: { status_code: number } | null });
  }

  async #write<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    events: ReadonlyArray<EventOf<Events>>,
  ): Promise<void> {
    const decide = () => E.right({ events, tenant: tenants.project });
    assert.ok(E.isRight(await this.service.writer.write({ entity, id, origin, decide })));
  }
}

describe('BatchRun', () => {
  let batches: Batches;
  beforeEach(async () => {
    batches = await Batches.open();
  });
  afterEach(() => batches.close());

  it('writes lines that the end of the window cut off to the error file, as OpenAI does', async () => {
    await batches.create(['a', 'b', 'c', 'd']);
    batches.answers = (customId) => {
      if (customId === 'a' || customId === 'b') return answer();
      batches.clock.ms += dayMs;
      return { kind: 'later', afterMs: 60_000 };
    };
    await batches.run();
    const { status, output, errors } = await batches.result();
    assert.equal(status, 'expired');
    assert.deepEqual(output?.map(({ custom_id }) => custom_id).toSorted(), ['a', 'b']);
    assert.deepEqual(
      errors?.map((line) => ({ ...line, id: '' })),
      ['c', 'd'].map((custom_id) => ({
        id: '',
        custom_id,
        response: null,
        error: {
          code: 'batch_expired',
          message: 'This request could not be executed before the completion window expired.',
        },
      })),
    );
  });

  it('sends no line of a batch whose window ended before the run', async () => {
    await batches.create(['a', 'b']);
    batches.clock.ms += dayMs;
    await batches.run();
    const { status, output } = await batches.result();
    assert.deepEqual([status, output, batches.asked], ['expired', null, []]);
  });

  it('completes a batch of which one line in ten fails, with each line in one of its files', async () => {
    const customIds = Array.from({ length: 100 }, (_, index) => `line-${index}`);
    await batches.create(customIds);
    batches.slots = new CallSlots(16);
    batches.answers = (customId) => answer(customId.endsWith('3') ? 502 : 200);
    await batches.run();
    const { status, output, errors } = await batches.result();
    assert.deepEqual([status, output?.length, errors?.length], ['completed', 90, 10]);
    const all = [...(output ?? []), ...(errors ?? [])].map(({ custom_id }) => custom_id);
    assert.deepEqual(all.toSorted(), customIds.toSorted());
    assert.ok(errors?.every(({ response }) => response?.status_code === 502));
  });

  it('starts no call once its lease has lapsed by its own clock', async () => {
    await batches.create(Array.from({ length: 50 }, (_, index) => `line-${index}`));
    let isHeld = true;
    batches.answers = () => {
      if (batches.asked.length === 10) isHeld = false;
      return answer();
    };
    await batches.run(batchId, { ...alone, leaseToken: 1, isHeld: () => isHeld });
    assert.ok(batches.asked.length >= 10 && batches.asked.length <= 11, String(batches.asked.length));
    assert.equal((await batches.result()).status, 'in_progress');
    isHeld = true;
    await batches.run(batchId, { ...alone, leaseToken: 2 });
    assert.equal((await batches.result()).output?.length, 50);
    assert.equal(batches.asked.length, 50, 'the answers of the lost term are recorded');
  });

  it('asks no more lines when its node stops, and records the answers of the calls that end soon', async () => {
    await batches.create(['a', 'b', 'c', 'd']);
    batches.slots = new CallSlots(1);
    const stopping = new AbortController();
    batches.answers = async (customId) => {
      if (customId !== 'b') return answer();
      stopping.abort();
      await new Promise((resolve) => setTimeout(resolve, 500));
      return answer();
    };
    await batches.run(batchId, { ...alone, signal: stopping.signal });
    assert.deepEqual(batches.asked, ['a', 'b']);
    assert.equal((await batches.result()).status, 'in_progress');
    await batches.run();
    const { status, output } = await batches.result();
    assert.deepEqual([status, batches.asked, output?.length], ['completed', ['a', 'b', 'c', 'd'], 4]);
  });

  it('asks no line when its node has stopped before, and leaves nothing behind on a node that continues', async () => {
    await batches.create(['a']);
    await batches.run(batchId, { ...alone, signal: AbortSignal.abort() });
    assert.deepEqual(batches.asked, []);
    const term = new AbortController();
    await batches.run(batchId, { ...alone, signal: term.signal });
    assert.equal((await batches.result()).status, 'completed');
    assert.deepEqual(getEventListeners(term.signal, 'abort'), []);
  });

  it('records nothing for a run that another run has followed, and repeats no recorded line', async () => {
    await batches.create(Array.from({ length: 20 }, (_, index) => `line-${index}`));
    let second: Promise<void> | null = null;
    batches.answers = () => {
      // The second run begins while a call of the first is in flight.
      second ??= batches.run(batchId, { ...alone, leaseToken: 2 });
      return answer();
    };
    const failure = await batches.run(batchId, { ...alone, leaseToken: 1 }).then(
      () => null,
      (error: Error) => error,
    );
    assert.ok(failure === null || failure.name === 'TermOverError', String(failure));
    await second;
    const { status, output } = await batches.result();
    assert.deepEqual([status, output?.length], ['completed', 20]);
    assert.equal(new Set(output?.map(({ custom_id }) => custom_id)).size, 20);
  });

  it('fails the batch when its creator’s key is revoked, and keeps the finished lines', async () => {
    await batches.create(['a', 'b', 'c']);
    batches.answers = async (customId) => {
      if (customId === 'a') return answer();
      await batches.revokeKey();
      return { kind: 'later', afterMs: 60_000 };
    };
    batches.slots = new CallSlots(1);
    await batches.run();
    const { status, output, errors } = await batches.result();
    assert.deepEqual([status, output?.map(({ custom_id }) => custom_id), errors], ['failed', ['a'], null]);
  });

  it('ends a batch whose key may not call the gateway, and asks no line', async () => {
    const unscoped = await Batches.open(['batches:write']);
    try {
      await unscoped.create(['a', 'b']);
      await unscoped.run();
      const { status, output } = await unscoped.result();
      assert.deepEqual([status, output, unscoped.asked], ['failed', null, []]);
      assert.deepEqual(await unscoped.errorCodes(), ['gateway_scope_missing']);
    } finally {
      await unscoped.close();
    }
  });

  it('tries few lines while the limits of the project refuse them, and completes the batch', async () => {
    const customIds = Array.from({ length: 300 }, (_, index) => `line-${index}`);
    await batches.create(customIds);
    batches.slots = new CallSlots(20);
    const tried = new Set<string>();
    let refusals = 0;
    let [running, most] = [0, 0];
    batches.answers = async (customId) => {
      tried.add(customId);
      most = Math.max(most, tried.size - answered);
      if (running === 2) {
        refusals += 1;
        return { kind: 'later', afterMs: 50 };
      }
      running += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      answered += 1;
      return answer();
    };
    let answered = 0;
    await batches.run();
    const { status, output } = await batches.result();
    assert.deepEqual([status, output?.length], ['completed', 300]);
    assert.ok(most <= 2 * 20, `${most} unfinished lines`);
    assert.ok(refusals <= 20 * 300, `${refusals} refusals`);
  });

  it('asks no more lines while the project has no room for answers, and continues when it has', async () => {
    await batches.create(Array.from({ length: 30 }, (_, index) => `line-${index}`));
    batches.quotaBytes = 0;
    const running = batches.run();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(batches.asked, []);
    batches.quotaBytes = 1e9;
    await running;
    assert.equal((await batches.result()).output?.length, 30);
  });

  it('holds no line in memory that waits for a slot', async () => {
    const customIds = Array.from({ length: 10 }, (_, index) => `line-${index}`);
    const files = Array.from({ length: 5 }, (_, index) => `cmany0000000000${index}`);
    for (const name of files) {
      const other = { batchId: `batch_${name}`, fileId: `file-${name}`, projectId: ids.project };
      await batches.create(customIds, other, 5_000);
    }
    let most = 0;
    batches.answers = async () => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      most = Math.max(most, batches.lines.bytes);
      return answer();
    };
    await Promise.all(files.map((name) => batches.run(`batch_${name}`)));
    assert.equal(batches.asked.length, 50);
    // Two are asked; the others are the answers that are not recorded.
    assert.ok(most >= 5_000 && most < 3 * 5_500 + 50 * 50, `${most} bytes of lines`);
  });

  it('asks lines one after the other where there is room for one, in every batch, and completes them', async () => {
    const other = { batchId: 'batch_csecond0000001', fileId: 'file-csecond0000001', projectId: ids.project as string };
    await batches.create(['a', 'b', 'c'], undefined, 5_000);
    await batches.create(['d', 'e', 'f'], other, 5_000);
    batches.slots = new CallSlots(4);
    batches.lines = new ByteBudget({ maxBytesPerProject: 7_000, maxBytes: 7_000 });
    let [running, most] = [0, 0];
    batches.answers = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return answer();
    };
    await Promise.all([batches.run(), batches.run(other.batchId)]);
    assert.deepEqual([batches.asked.toSorted().join(''), most], ['abcdef', 1]);
    const { status, output } = await batches.result(other.batchId);
    assert.deepEqual([status, output?.length], ['completed', 3]);
  });

  it('ends while it waits for room for its next line', async () => {
    const full = batches.lines.hold(ids.sibling);
    await batches.create(['a']);
    batches.lines = new ByteBudget({ maxBytesPerProject: 7_000, maxBytes: 7_000 });
    const taken = batches.lines.hold(ids.sibling);
    batches.answers = () => {
      taken.resize(7_000);
      return { kind: 'later', afterMs: 10 };
    };
    const stopping = new AbortController();
    const running = batches.run(batchId, { ...alone, signal: stopping.signal });
    setTimeout(() => stopping.abort(), 300);
    await running;
    assert.equal((await batches.result()).status, 'in_progress');
    full.release();
    taken.release();
  });

  it('shares the calls of a node between projects, whatever their numbers of lines', async () => {
    const small = { batchId: 'batch_csmall00000001', fileId: 'file-csmall00000001', projectId: ids.sibling };
    await batches.create(Array.from({ length: 60 }, (_, index) => `big-${index}`));
    await batches.create(['small-0', 'small-1', 'small-2', 'small-3'], small);
    batches.slots = new CallSlots(1);
    let running: Promise<void> | null = null;
    batches.answers = async () => {
      // The small batch is created while the big one has the only slot.
      if (batches.asked.length === 5) running = batches.run(small.batchId);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return answer();
    };
    await batches.run();
    await running;
    const [first, last] = [batches.asked.indexOf('small-0'), batches.asked.indexOf('small-3')];
    const between = batches.asked.slice(first, last).filter((id) => id.startsWith('big'));
    assert.ok(last > first && between.length <= 6, batches.asked.join());
    assert.ok(batches.asked.lastIndexOf('big-59') > last, 'the big batch was still running');
    assert.deepEqual(
      [(await batches.result()).status, (await batches.result(small.batchId)).status],
      ['completed', 'completed'],
    );
  });
});
