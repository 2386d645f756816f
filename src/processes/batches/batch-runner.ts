import { setMaxListeners } from 'node:events';
import type { BatchEvents } from '#domain/batch/events.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { isReadable } from '#event-store/recorded-event.ts';
import { isLoggedByStore } from '#event-store/unreadable-stream.ts';
import type { Term } from '#leases/term.ts';
import { areShown, type Positions } from '#positions/positions.ts';
import type { DocumentValue, PageKey, ReadStore } from '#read-store/read-store.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { abortable, delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { BatchRun, type BatchRunOptions, type BatchTerm } from './batch-run.ts';
import { TermOverError } from './run-stop.ts';

interface OpenBatch extends DocumentValue {
  readonly projectId: string;
}

type TermOfRuns = Pick<Term, 'token' | 'signal' | 'isHeld' | 'guard'> & Pick<BatchTerm, 'stopping'>;

export interface BatchRunnerOptions extends BatchRunOptions {
  readonly documents: Pick<ReadStore, 'list'>;
  readonly tail: Pick<LogTail, 'follow' | 'readEnd'>;
  readonly positions: Pick<Positions, 'passed'>;
}

/** Maximum number of runs at the same time on a node, and the part of one project; further batches wait. */
const maxRuns = 1_000;
const maxRunsOfProject = 100;
/** Number of batches that one look reads. The next look continues after them. */
const batchesOfLook = 1_000;
const pollMs = 1_000;
/**
 * Maximum time between two looks that find nothing. New batches are noted without a look, and older ones are found when
 * the read model shows them.
 */
const maxPollMs = 30_000;
const retryMs = 1_000;
const readModelWaitMs = 30_000;
const collection = 'batches';

/**
 * Runs every unfinished batch during one term, many at the same time, those of a project the oldest first. A project
 * with more of them than may run keeps no other project waiting.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #term: BatchTerm;
  readonly #running = new Map<string, Promise<void>>();
  /** The number of running batches of each project. */
  readonly #runsOf = new Map<string, number>();
  /** Batches that were created during the term and not begun yet, with their projects. */
  readonly #created = new Map<string, string>();
  /** The place after which the next look for open batches begins; null to begin with the oldest. */
  #lookAfter: PageKey | null = null;
  /** The number of looks in a row that found nothing while nothing ran. */
  #emptyLooks = 0;
  #wake = new AbortController();

  constructor(options: BatchRunnerOptions, { token, signal, stopping, isHeld, guard }: TermOfRuns) {
    const { writer, blobs, space, documents } = options;
    this.#options = {
      ...options,
      writer: guard(writer),
      blobs: guard(blobs),
      space: guard(space),
      documents: guard(documents),
    };
    this.#term = { leaseToken: token, signal, stopping, isHeld, beganAt: clock.now() };
  }

  /** Runs batches until the term's signal aborts. Then every run ends within seconds. */
  async run(): Promise<void> {
    const { signal, stopping } = this.#term;
    setMaxListeners(0, signal, stopping);
    const end = await this.#options.tail.readEnd(signal);
    if (end === null) return;
    // New batches begin immediately. The looks find those from before the term, and those that had no place.
    const following = this.#options.tail.follow({
      name: 'The running of batches',
      types: ['BatchCreated'],
      after: end,
      handle: ({ events }) => this.#note(events),
      signal,
    });
    void this.#lookWhenShown(end);
    while (!signal.aborted) {
      // A batch that is created while others begin wakes the next round.
      this.#wake = new AbortController();
      await this.#begin();
      await delay(Math.min(maxPollMs, pollMs * 2 ** this.#emptyLooks), AbortSignal.any([this.#wake.signal, signal]));
    }
    await following.ended;
    await Promise.all(this.#running.values());
  }

  #note(events: ReadonlyArray<RecordedEvent>): void {
    for (const event of events) {
      if (!isReadable(event)) continue;
      const { id, projectId } = event.data as BatchEvents['BatchCreated'];
      this.#created.set(id, projectId);
    }
    if (this.#created.size > 0) this.#lookNow();
  }

  #lookNow(): void {
    this.#emptyLooks = 0;
    this.#wake.abort();
  }

  /** Waits for the read model, which may show the batches from before the term only later, and looks then. */
  async #lookWhenShown(end: number): Promise<void> {
    const { signal } = this.#term;
    while (!signal.aborted) {
      if (await areShown(this.#options.positions, [collection], end, { ms: readModelWaitMs, signal })) break;
      await delay(retryMs, signal);
    }
    this.#lookAfter = null;
    this.#lookNow();
  }

  async #begin(): Promise<void> {
    await this.#look();
    const created = [...this.#created];
    this.#created.clear();
    for (const [id, projectId] of created) this.#beginOne(id, projectId);
  }

  /** Begins the open batches that the read model shows. */
  async #look(): Promise<void> {
    const { signal } = this.#term;
    const asked = { limit: batchesOfLook, maxBytes: 2 ** 31, ...(this.#lookAfter && { after: this.#lookAfter }) };
    try {
      const list = () => this.#options.documents.list<OpenBatch>(collection, { open: true }, asked);
      const page = await abortable(signal, list);
      for (const { id, value } of page.documents) this.#beginOne(id, value.projectId);
      this.#lookAfter = page.next;
      this.#emptyLooks = page.documents.length + this.#running.size === 0 ? this.#emptyLooks + 1 : 0;
    } catch (error) {
      if (!(error instanceof UnavailableError || signal.aborted)) throw error;
      this.#emptyLooks = 0;
    }
  }

  #beginOne(id: string, projectId: string): void {
    if (this.#term.signal.aborted || this.#running.has(id) || this.#running.size >= maxRuns) return;
    const ofProject = this.#runsOf.get(projectId) ?? 0;
    if (ofProject >= maxRunsOfProject) return;
    this.#runsOf.set(projectId, ofProject + 1);
    const running = runFor(projectId, () => this.#runUntilEnded(id)).finally(() => {
      this.#running.delete(id);
      this.#endOneOf(projectId);
    });
    this.#running.set(id, running);
  }

  #endOneOf(projectId: string): void {
    const left = (this.#runsOf.get(projectId) ?? 1) - 1;
    if (left > 0) this.#runsOf.set(projectId, left);
    else this.#runsOf.delete(projectId);
  }

  async #runUntilEnded(id: string): Promise<void> {
    const { signal } = this.#term;
    do {
      if (await this.#hasEnded(id)) return;
      await delay(retryMs, signal);
    } while (!signal.aborted);
  }

  /** @returns false if the run has failed and is tried again */
  async #hasEnded(id: string): Promise<boolean> {
    const { log } = this.#options;
    try {
      await new BatchRun(this.#options, id, this.#term).run();
      return true;
    } catch (error) {
      if (error instanceof TermOverError || error instanceof FencedError)
        log.warn({ batch: id, reason: error.message }, 'a batch is left to others');
      else if (error instanceof UnavailableError) log.warn({ batch: id, reason: error.message }, 'a batch waits');
      else if (!isLoggedByStore(error)) log.error({ err: error, batch: id }, 'a batch failed and is tried again');
      return false;
    }
  }
}
