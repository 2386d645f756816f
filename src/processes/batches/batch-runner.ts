import { setMaxListeners } from 'node:events';
import type { BatchEvents } from '#domain/batch/events.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { isReadable } from '#event-store/recorded-event.ts';
import { isLoggedByStore } from '#event-store/unreadable-stream.ts';
import type { DocumentValue, PageKey, ReadStore } from '#read-store/read-store.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { BatchRun, type BatchRunOptions } from './batch-run.ts';
import type { BatchTerm } from './batch-store.ts';
import { TermOverError } from './run-stop.ts';

interface OpenBatch extends DocumentValue {
  readonly projectId: string;
}

export interface BatchRunnerOptions extends BatchRunOptions {
  readonly documents: Pick<ReadStore, 'list'>;
  readonly tail: Pick<LogTail, 'follow'>;
}

/** The most batches that run at once on a node, and of these the most of one project; further ones wait. */
const maxRuns = 1_000;
const maxRunsOfProject = 100;
/** The most open batches that one look reads. The next look continues after them. */
const batchesOfLook = 1_000;
const pollMs = 1_000;
/**
 * The longest pause between two looks that find nothing. New batches are noted without a look, so a look finds only
 * what the read model showed too late for the first ones.
 */
const maxPollMs = 30_000;
const retryMs = 1_000;

/**
 * Runs every unfinished batch during a term, many at once, those of a project the oldest first. A project with more of
 * them than may run keeps no other project waiting.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** The numbers of running batches by project. */
  readonly #runsOf = new Map<string, number>();
  /** The batches that were created during the term and that were not begun yet, with their projects. */
  readonly #created = new Map<string, string>();
  /** The place after which the next look for open batches begins; null to begin with the oldest. */
  #lookAfter: PageKey | null = null;
  /** The looks in a row that have found nothing, while nothing ran. */
  #emptyLooks = 0;
  #wake = new AbortController();

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
  }

  /** Runs batches until the term's signal aborts. Then it waits for work that cannot be interrupted. */
  async run(term: BatchTerm): Promise<void> {
    const { signal } = term;
    this.#emptyLooks = 0;
    setMaxListeners(0, signal);
    // New batches begin at once. The looks find those from before the term, and those that had no place.
    const following = this.#options.tail.follow({
      name: 'The running of batches',
      types: ['BatchCreated'],
      after: 'end',
      handle: ({ events }) => this.#note(events),
      signal,
    });
    while (!signal.aborted) {
      // A batch that is created while others begin wakes the next round.
      this.#wake = new AbortController();
      await this.#begin(term);
      await delay(Math.min(maxPollMs, pollMs * 2 ** this.#emptyLooks), AbortSignal.any([this.#wake.signal, signal]));
    }
    await following.ended;
    this.#created.clear();
    await Promise.all(this.#running.values());
  }

  #note(events: ReadonlyArray<RecordedEvent>): void {
    for (const event of events) {
      if (!isReadable(event)) continue;
      const { id, projectId } = event.data as BatchEvents['BatchCreated'];
      this.#created.set(id, projectId);
    }
    if (this.#created.size === 0) return;
    this.#emptyLooks = 0;
    this.#wake.abort();
  }

  async #begin(term: BatchTerm): Promise<void> {
    try {
      const asked = { limit: batchesOfLook, maxBytes: 2 ** 31, ...(this.#lookAfter && { after: this.#lookAfter }) };
      const page = await this.#options.documents.list<OpenBatch>('batches', { open: true }, asked);
      for (const { id, value } of page.documents) this.#beginOne(id, value.projectId, term);
      this.#lookAfter = page.next;
      this.#emptyLooks = page.documents.length + this.#running.size === 0 ? this.#emptyLooks + 1 : 0;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
    const created = [...this.#created];
    this.#created.clear();
    for (const [id, projectId] of created) this.#beginOne(id, projectId, term);
  }

  #beginOne(id: string, projectId: string, term: BatchTerm): void {
    if (term.signal.aborted || this.#running.has(id) || this.#running.size >= maxRuns) return;
    const ofProject = this.#runsOf.get(projectId) ?? 0;
    if (ofProject >= maxRunsOfProject) return;
    this.#runsOf.set(projectId, ofProject + 1);
    const running = runFor(projectId, () => this.#runOne(id, term)).finally(() => {
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

  async #runOne(id: string, term: BatchTerm): Promise<void> {
    const { log } = this.#options;
    try {
      await new BatchRun(this.#options, id, term).run();
      return;
    } catch (error) {
      if (error instanceof TermOverError) log.warn({ batch: id, reason: error.message }, 'a batch is left to others');
      else if (error instanceof UnavailableError) log.warn({ batch: id, reason: error.message }, 'a batch waits');
      else if (!isLoggedByStore(error)) log.error({ err: error, batch: id }, 'a batch failed and is tried again');
    }
    await delay(retryMs, term.signal);
  }
}
