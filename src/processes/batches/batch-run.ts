import type { LineCalls } from '#application/batches/line-calls.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import {
  type BatchState,
  batchChecked,
  batchEnded,
  batchFinalizing,
  batchTaken,
  isCancelling,
  lineScope,
  linesCompleted,
  partBlobId,
} from '#domain/batch/batch.ts';
import type { BatchError, BatchEvents } from '#domain/batch/events.ts';
import { fileHeld, fileReleased } from '#domain/file/file.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { Semaphore } from '#shared/async/semaphore.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { BatchStore, type BatchStoreOptions, type BatchTerm } from './batch-store.ts';
import type { CallSlots } from './call-slots.ts';
import { checkInput, maxInputLines } from './check-input.ts';
import { LineAsker, roomMs } from './line-asker.ts';
import { PartRecorder, type PartToRecord } from './part-recorder.ts';
import { type LinesSource, type NumberedLine, readLines } from './read-lines.ts';
import { ResultFiles } from './result-files.ts';
import { StopSignal, TermOverError } from './run-stop.ts';

export interface BatchRunOptions extends BatchStoreOptions {
  readonly blobs: BlobStore;
  readonly calls: LineCalls;
  readonly slots: CallSlots;
  /** Limits the inputs that are checked at once. */
  readonly checks: CallSlots;
  /** The most bytes of a line. */
  readonly maxLineBytes: number;
  /** Counts the bytes of unfinished lines, and of answers until they are recorded. */
  readonly lines: ByteBudget;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}

type Known = NonNullable<BatchState>;
type Outcome = BatchEvents['BatchEnded']['outcome'];

const watchMs = 250;
/** One in `checksPerRead` checks of a run reads the event store. The others use what this node has read from the log. */
const checksPerRead = 8;
/** How often a run checks whether its project still has room. */
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
  readonly #stop = new StopSignal();
  #token = 0;
  #spaceCheckedAt = Number.NEGATIVE_INFINITY;
  #caller: Caller | null = null;
  /** Why the key may not make the batch's calls; null while it may. */
  #keyFault: BatchError | null = null;

  constructor(options: BatchRunOptions, id: string, term: BatchTerm) {
    this.#options = options;
    this.#id = id;
    this.#term = term;
    this.#store = new BatchStore(options, id, term);
  }

  /** Resolves when this node has nothing left to do for the batch. @throws UnavailableError, TermOverError */
  async run(): Promise<void> {
    const found = await this.#store.load();
    if (found.hasEnded) return;
    await this.#store.record((state) => batchTaken(state, this.#term.leaseToken));
    const state = await this.#store.load();
    this.#token = state.token;
    await this.#look(state, true);
    const watching = this.#watch();
    try {
      await this.#work(state);
    } finally {
      this.#stop.end();
      await watching;
    }
  }

  async #work(state: Known): Promise<void> {
    if (state.outcome === null) {
      const errors = await this.#askAll(state);
      const stopped = this.#stop.reason;
      if (stopped === 'node-stops' || stopped === 'term-over') return;
      const outcome: Outcome = errors !== null ? 'failed' : (stopped ?? 'completed');
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
      const checking = checkInput(lines, about, this.#options.calls, isWanted);
      const checked = await checking.finally(slot.release);
      if (checked === null) return null;
      if ('errors' in checked) return checked.errors;
      await this.#persist(() => this.#store.record((now) => batchChecked(now, this.#token, checked.total)));
    }
    if (this.#stop.reason === null) await this.#askLines(state);
    return null;
  }

  async #askLines(state: Known): Promise<void> {
    const recorder = new PartRecorder({
      firstPart: state.parts.size,
      record: (part) => this.#recordPart(part, state.projectId),
      onFailure: () => this.#stop.stop('term-over'),
    });
    const running = new Set<Promise<void>>();
    // Lines that were refused for now are unfinished too. Each is in memory.
    const unfinished = new Semaphore(2 * this.#options.slots.calls, this.#stop.asking);
    const asker = this.#asker(state);
    const lines = this.#lines(state, { waitForRoom: () => asker.waitForRoom() });
    try {
      for (;;) {
        await recorder.ready();
        await unfinished.acquire();
        await this.#roomFor(state.projectId);
        const next = await asker.next(lines);
        if (next === null) break;
        const asked: Promise<void> = asker
          .ask(next)
          .then((finished) => {
            if (finished !== null) recorder.add(finished);
          })
          .finally(() => {
            running.delete(asked);
            unfinished.release();
          });
        running.add(asked);
      }
    } finally {
      await lines.return(undefined);
      // Finished lines are recorded even if the rest of the input cannot be read.
      await Promise.all(running);
      await recorder.finish();
    }
  }

  #asker(state: Known): LineAsker {
    const { calls, slots, log } = this.#options;
    const ensureSpace = (bytes: number) => this.#ensureSpace(state.projectId, bytes);
    const own = { store: this.#store, term: this.#term, stop: this.#stop, caller: () => this.#caller, ensureSpace };
    return new LineAsker({ calls, slots, log, ...own }, state);
  }

  /** Waits while the project has no room for more answers, unless no more lines are asked. */
  async #roomFor(projectId: string): Promise<void> {
    const now = clock.now();
    if (now < this.#spaceCheckedAt + spaceCheckMs) return;
    this.#spaceCheckedAt = now;
    await this.#persist(() => this.#ensureSpace(projectId, 1));
  }

  /**
   * Finished lines are paid for. When no more lines are asked, their answers are kept even above the quota.
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

  /** Writes the result files, releases the input, and ends the batch. */
  async #end(): Promise<void> {
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

  /** @throws TermOverError when this node stops */
  async #waitForRoom(): Promise<true> {
    await delay(roomMs, this.#term.signal);
    if (this.#term.signal.aborted) throw new TermOverError('This node stops.');
    return true;
  }

  /** Checks several times a second whether the batch was cancelled, its key was revoked, or its time is over. */
  async #watch(): Promise<void> {
    const { ended } = this.#stop;
    const stopping = () => this.#stop.stop('node-stops');
    this.#term.signal.addEventListener('abort', stopping, { signal: ended });
    if (this.#term.signal.aborted) stopping();
    for (let check = 1; !ended.aborted; check += 1) {
      await delay(watchMs, ended);
      if (ended.aborted) break;
      try {
        const reads = check % checksPerRead === 0;
        await this.#look(await (reads ? this.#store.load() : this.#store.loadCached()), reads);
      } catch (error) {
        // The next check follows. Until then the store refuses appends of the run.
        if (!(error instanceof UnavailableError)) this.#stop.stop('term-over');
      }
    }
  }

  /** @param reads whether to read the key's stream */
  async #look(state: Known, reads: boolean): Promise<void> {
    this.#caller = await this.#store.holder(state.keyId, reads);
    this.#keyFault = faultOf(this.#caller);
    if (!this.#term.isHeld() || state.token !== this.#token) this.#stop.stop('term-over');
    else if (this.#keyFault !== null) this.#stop.stop('failed');
    else if (isCancelling(state)) this.#stop.stop('cancelled');
    else if (state.facts.expires_at * 1_000 <= this.#options.now().getTime()) this.#stop.stop('expired');
  }

  #persist<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#store.persist(work);
  }

  #time(): string {
    return this.#options.now().toISOString();
  }
}

function faultOf(caller: Caller | null): BatchError | null {
  if (caller === null) return keyRevoked;
  return caller.scopes.has(lineScope) ? null : scopeMissing;
}

/** Earlier releases created batches with keys that lack the scope. */
const scopeMissing: BatchError = {
  code: 'gateway_scope_missing',
  line: null,
  message: `The API key that made the batch lacks the scope ${lineScope}. Lines that were finished are kept.`,
  param: null,
};

const keyRevoked: BatchError = {
  code: 'key_revoked',
  line: null,
  message: 'The API key that made the batch was revoked or has expired. Lines that were finished are kept.',
  param: null,
};

const inputGone: BatchError = {
  code: 'input_file_not_found',
  line: null,
  message: 'The input file was deleted or has expired.',
  param: 'input_file_id',
};
