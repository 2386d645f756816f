import type { LineCalls } from '#application/batches/line-calls.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import {
  type BatchState,
  batchChecked,
  batchEnded,
  batchFinalizing,
  batchTaken,
  linesCompleted,
  partBlobId,
} from '#domain/batch/batch.ts';
import type { BatchError, BatchEvents } from '#domain/batch/events.ts';
import { fileHeld, fileReleased } from '#domain/file/file.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import type { CallSlots } from '#exchange/call-slots.ts';
import { abortable, delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { AskLines } from './ask-lines.ts';
import { batchKeyFault, earlyOutcomeOf, keyRevoked } from './batch-outcome.ts';
import { BatchStore, type BatchStoreOptions } from './batch-store.ts';
import { checkInput, maxInputLines } from './check-input.ts';
import { type AskedLine, dropLines, type LeftLines, type LeftRun, leftLinesKeptMs } from './left-lines.ts';
import { LineAsker, roomMs } from './line-asker.ts';
import { PartRecorder, type PartToRecord } from './part-recorder.ts';
import { type LinesSource, type NumberedLine, readLines } from './read-lines.ts';
import { ResultFiles } from './result-files.ts';
import { RunStop } from './run-stop.ts';

/** A term in which this node alone runs batches. */
export interface BatchTerm {
  /** The token of the lease: each term has a larger one. 0 on a single node. */
  readonly leaseToken: number;
  /** Aborts when no new work may begin. */
  readonly signal: AbortSignal;
  /** Aborts when the node stops, also after the end of the term. */
  readonly stopping: AbortSignal;
  /** True if no other node can run batches now, according to this node's clock. */
  readonly isHeld: () => boolean;
  /** When the term began, on this node's clock. */
  readonly beganAt: number;
}

export interface BatchRunOptions extends BatchStoreOptions {
  readonly blobs: BlobStore;
  readonly calls: LineCalls;
  readonly slots: CallSlots;
  /** Slots for the inputs that are checked at the same time. */
  readonly checks: CallSlots;
  /** Lines that earlier terms of this node have asked and not recorded. */
  readonly left: LeftLines;
  readonly maxLineBytes: number;
  /** Memory of unfinished lines, and of answers until they are recorded. */
  readonly lines: ByteBudget;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}

type Known = NonNullable<BatchState>;
type Outcome = BatchEvents['BatchEnded']['outcome'];

const watchMs = 250;
/** One in `checksPerRead` checks of a run reads the event store. The others use what this node has read from the log. */
const checksPerRead = 8;
/**
 * How long after the begin of a term a batch stays with the run of another term. A node that has lost the lease still
 * records the answers that come meanwhile.
 */
const letRecordMs = 1_500;
/** Time between two checks of the project's room. */
const spaceCheckMs = 500;

/**
 * One run of a batch. It continues where the last run stopped, until the batch has ended, this node stops, or its term
 * is over.
 */
export class BatchRun {
  readonly #options: BatchRunOptions;
  readonly #id: string;
  readonly #term: BatchTerm;
  readonly #store: BatchStore;
  readonly #stop = new RunStop();
  #token = 0;
  /** What an earlier run on this node has left. */
  #left: LeftRun | null = null;
  #asking: AskLines | null = null;
  #spaceCheckedAt = Number.NEGATIVE_INFINITY;
  #caller: Caller | null = null;
  /** Why the key may not make the batch's calls; null while it may. */
  #keyFault: BatchError | null = null;

  constructor(options: BatchRunOptions, id: string, term: BatchTerm) {
    this.#options = options;
    this.#id = id;
    this.#term = term;
    this.#store = new BatchStore(options, id, this.#stop.recording);
  }

  /**
   * Resolves when this node has nothing left to do for the batch, at the latest when the run may record nothing more. It
   * waits for no call then.
   * @throws UnavailableError, TermOverError
   */
  async run(): Promise<void> {
    const { signal, stopping, isHeld } = this.#term;
    const leave = () => this.#stop.stop(stopping.aborted || isHeld() ? 'node-stops' : 'term-lost');
    for (const each of [signal, stopping]) each.addEventListener('abort', leave, { signal: this.#stop.ended });
    if (signal.aborted) leave();
    let hasFailed = true;
    try {
      await abortable(this.#stop.recording, () => this.#run());
      hasFailed = false;
    } finally {
      this.#stop.end();
      const { reason } = this.#stop;
      this.#leaveLines(reason === 'term-lost' || (reason === null && hasFailed));
    }
  }

  async #run(): Promise<void> {
    // Before any wait: a run that is over by then takes nothing.
    this.#left = this.#options.left.take(this.#id);
    const found = await this.#store.load();
    if (found.hasEnded) return;
    await this.#letOthersRecord(found);
    await this.#store.record((state) => batchTaken(state, this.#term.leaseToken));
    const state = await this.#store.load();
    this.#token = state.token;
    await this.#look(state, true);
    void this.#watch();
    await this.#work(state);
  }

  /** Waits for another node, which may still record answers for a moment, if it lives and has lost its term. */
  async #letOthersRecord({ token, leaseToken, outcome }: Known): Promise<void> {
    const isOwn = leaseToken === this.#term.leaseToken || this.#left?.token === token;
    if (token === 0 || outcome !== null || isOwn) return;
    await delay(this.#term.beganAt + letRecordMs - clock.now(), this.#stop.asking);
  }

  /** @param areWanted the next run on this node takes over the lines that are not recorded */
  #leaveLines(areWanted: boolean): void {
    const left = this.#left;
    const token = Math.max(this.#token, left?.token ?? 0);
    if (token === 0) return;
    const lines = this.#asking?.leave() ?? left?.lines ?? new Map<number, AskedLine>();
    // A run that has asked nothing prolongs nothing.
    const keptUntil = this.#asking === null && left !== null ? left.keptUntil : clock.now() + leftLinesKeptMs;
    if (areWanted) this.#options.left.leave(this.#id, { token, lines, keptUntil });
    else dropLines(lines);
  }

  async #work(state: Known): Promise<void> {
    if (state.outcome === null) {
      const errors = await this.#askAll(state);
      if (this.#stop.leavesBatch) return;
      const outcome = errors !== null ? 'failed' : ((this.#stop.reason ?? 'completed') as Outcome);
      const reported = errors ?? (outcome === 'failed' ? [this.#keyFault ?? keyRevoked] : []);
      await this.#persist(() =>
        this.#store.record((now) => batchFinalizing(now, { token: this.#token, outcome, errors: reported })),
      );
    }
    await this.#end();
  }

  /** @returns the faults of the input; null without any */
  async #askAll(state: Known): Promise<ReadonlyArray<BatchError> | null> {
    const { facts, inputBytes } = state;
    const input = await this.#persist(() =>
      this.#store.recordFile(facts.input_file_id, (now) => fileHeld(this.#id, now, this.#time())),
    );
    if (input === null || input.deleted || !input.heldBy.has(this.#id)) return [inputGone];
    if (!state.isChecked) {
      const about = { endpoint: facts.endpoint, bytes: inputBytes };
      const isWanted = () => this.#stop.reason === null;
      const slot = await this.#options.checks.acquire(state.projectId, this.#id, this.#stop.asking);
      if (slot === null) return null;
      const waitForRoom = () => delay(roomMs, this.#stop.asking).then(isWanted);
      const lines = this.#lines(state, { waitForRoom, maxLines: maxInputLines });
      this.#stop.recording.addEventListener('abort', slot.release, { once: true });
      const checking = checkInput(lines, about, this.#options.calls, isWanted);
      const checked = await checking.finally(slot.release);
      if (checked === null) return null;
      if ('errors' in checked) return checked.errors;
      await this.#persist(() => this.#store.record((now) => batchChecked(now, this.#token, checked.total)));
    }
    // The answers of an earlier run are recorded although no more lines are asked.
    if (this.#stop.reason === null || this.#left !== null) await this.#askLines(state);
    return null;
  }

  #askLines(state: Known): Promise<void> {
    const stop = this.#stop;
    const recorder = new PartRecorder({
      firstPart: state.parts.size,
      record: (part) => this.#recordPart(part, state.projectId),
      onFailure: () => stop.stop('taken-over'),
    });
    const asker = this.#asker(state);
    const maxUnfinished = 2 * this.#options.slots.calls;
    const waitForSpace = () => this.#roomFor(state.projectId);
    const left = this.#left?.lines ?? new Map<number, AskedLine>();
    this.#asking = new AskLines({ asker, recorder, stop, maxUnfinished, done: state.done, left, waitForSpace });
    return this.#asking.run(() => this.#lines(state, { waitForRoom: () => asker.waitForRoom() }));
  }

  #asker(state: Known): LineAsker {
    const { calls, slots, log } = this.#options;
    const ensureSpace = (bytes: number) => this.#ensureSpace(state.projectId, bytes);
    const { isHeld } = this.#term;
    const own = { store: this.#store, isHeld, stop: this.#stop, caller: () => this.#caller, ensureSpace };
    return new LineAsker({ calls, slots, log, ...own }, state);
  }

  /** Waits for room, unless no more lines are asked. */
  async #roomFor(projectId: string): Promise<void> {
    const now = clock.now();
    if (now < this.#spaceCheckedAt + spaceCheckMs) return;
    this.#spaceCheckedAt = now;
    await this.#persist(() => this.#ensureSpace(projectId, 1));
  }

  /**
   * Ensures space for finished lines, which are paid for. When no more lines are asked, their answers are kept even
   * above the quota.
   * @throws UnavailableError if there is no room for these bytes
   */
  async #ensureSpace(projectId: string, bytes: number): Promise<void> {
    const shortage = this.#stop.reason === null ? await this.#options.space.shortageOf(projectId, bytes) : null;
    if (shortage !== null) throw new UnavailableError(shortage.detail);
  }

  async #recordPart({ output, errors, ...part }: PartToRecord, projectId: string): Promise<void> {
    const { blobs } = this.#options;
    const blobId = partBlobId(this.#id, this.#token, part.part);
    const bytes = output.length + errors.length;
    const content = async function* () {
      yield output;
      yield errors;
    };
    await this.#persist(async () => {
      await this.#ensureSpace(projectId, bytes);
      await blobs.put(blobId, content(), Number.MAX_SAFE_INTEGER);
    });
    const recorded = { ...part, blobId, token: this.#token, outputBytes: output.length, errorBytes: errors.length };
    await this.#persist(() => this.#store.record((state) => linesCompleted(state, recorded)));
  }

  async #end(): Promise<void> {
    // Lines that nobody records would hold the room in which the input is read.
    if (this.#left !== null) dropLines(this.#left.lines);
    const state = await this.#store.load();
    if (state.hasEnded) return;
    const { blobs } = this.#options;
    const lines = () => this.#lines(state, { waitForRoom: () => this.#waitForRoom() });
    const read = (line: Buffer) => this.#options.calls.read(line, state.facts.endpoint);
    const files = new ResultFiles({ blobs, store: this.#store, lines, read }, state);
    const outputFileId = await files.write('output');
    const errorFileId = await files.write('error');
    await this.#persist(() => this.#store.recordFile(state.facts.input_file_id, (now) => fileReleased(this.#id, now)));
    const end = { token: this.#token, errors: [], outputFileId, errorFileId };
    await this.#persist(() => this.#store.record((now) => batchEnded(now, end)));
  }

  #lines(
    { inputBlobId, inputBytes, projectId }: Known,
    source: Pick<LinesSource, 'waitForRoom'> & Partial<Pick<LinesSource, 'maxLines'>>,
  ): AsyncGenerator<NumberedLine> {
    const { blobs, maxLineBytes, lines } = this.#options;
    const open = (start: number) => blobs.get(inputBlobId, { start, end: inputBytes });
    const hold = () => lines.hold(projectId);
    return readLines({ open, maxLineBytes, maxLines: Number.POSITIVE_INFINITY, hold, ...source });
  }

  /** @throws TermOverError */
  async #waitForRoom(): Promise<true> {
    await delay(roomMs, this.#stop.recording);
    this.#stop.recording.throwIfAborted();
    return true;
  }

  /** Checks several times a second whether the batch was cancelled, its key was revoked, or its time is over. */
  async #watch(): Promise<void> {
    const { ended } = this.#stop;
    for (let check = 1; !ended.aborted; check += 1) {
      await delay(watchMs, ended);
      if (ended.aborted) break;
      try {
        const reads = check % checksPerRead === 0;
        await this.#look(await (reads ? this.#store.load() : this.#store.loadCached()), reads);
      } catch (error) {
        // The next check follows. Until then the store refuses appends of the run.
        if (!(error instanceof UnavailableError)) this.#stop.stop('taken-over');
      }
    }
  }

  /** @param reads the key's stream */
  async #look(state: Known, reads: boolean): Promise<void> {
    this.#caller = await this.#store.holder(state.keyId, reads);
    this.#keyFault = batchKeyFault(this.#caller);
    if (state.token !== this.#token) this.#stop.stop('taken-over');
    else if (!this.#term.isHeld()) this.#stop.stop('term-lost');
    const outcome = earlyOutcomeOf(state, this.#caller, this.#options.now());
    if (outcome !== null) this.#stop.stop(outcome);
  }

  #persist<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#store.persist(work);
  }

  #time(): string {
    return this.#options.now().toISOString();
  }
}

const inputGone: BatchError = {
  code: 'input_file_not_found',
  line: null,
  message: 'The input file was deleted or has expired.',
  param: 'input_file_id',
};
