import { setMaxListeners } from 'node:events';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { delay } from '#shared/async/delay.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { BatchRun, type BatchRunOptions } from './batch-run.ts';
import type { BatchTerm } from './batch-store.ts';
import { keepHeapSmall } from './heap-growth.ts';
import { TermOverError } from './term-over-error.ts';

export interface BatchRunnerOptions extends BatchRunOptions {
  readonly documents: Pick<ReadStore, 'list'>;
}

/** The most batches that run at once on a node; further ones wait. */
const maxRuns = 1_000;
const lookMs = 500;
const retryMs = 1_000;

/** Runs every unfinished batch during a term: the oldest first, many at once. */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** The batches that this node has created during the term and that were not begun yet. */
  readonly #created = new Set<string>();
  #isInTerm = false;
  #wake = new AbortController();

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
  }

  /** Receives the events that this node has appended, so that a new batch begins at once during a term. */
  see = (events: ReadonlyArray<RecordedEvent>): void => {
    if (!this.#isInTerm) return;
    for (const { type, data } of events) if (type === 'BatchCreated') this.#created.add(String(data.id));
    if (this.#created.size > 0) this.#wake.abort();
  };

  /** Runs batches until the term's signal aborts. Then it waits for work that cannot be interrupted. */
  async run(term: BatchTerm): Promise<void> {
    setMaxListeners(0, term.signal);
    this.#isInTerm = true;
    try {
      while (!term.signal.aborted) {
        // A batch that is created while others begin wakes the next round.
        this.#wake = new AbortController();
        await this.#begin(term);
        await delay(lookMs, AbortSignal.any([this.#wake.signal, term.signal]));
      }
    } finally {
      this.#isInTerm = false;
      this.#created.clear();
    }
    await Promise.all(this.#running.values());
  }

  async #begin(term: BatchTerm): Promise<void> {
    try {
      const page = await this.#options.documents.list('batches', { open: true }, { limit: maxRuns, maxBytes: 2 ** 31 });
      for (const { id } of page.documents) this.#beginOne(id, term);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
    const created = [...this.#created];
    this.#created.clear();
    for (const id of created) this.#beginOne(id, term);
  }

  #beginOne(id: string, term: BatchTerm): void {
    if (term.signal.aborted || this.#running.has(id) || this.#running.size >= maxRuns) return;
    const letHeapGrow = keepHeapSmall();
    const running = this.#runOne(id, term).finally(() => {
      this.#running.delete(id);
      letHeapGrow();
    });
    this.#running.set(id, running);
  }

  async #runOne(id: string, term: BatchTerm): Promise<void> {
    const { log } = this.#options;
    try {
      await new BatchRun(this.#options, id, term).run();
      return;
    } catch (error) {
      if (error instanceof TermOverError) log.warn({ batch: id, reason: error.message }, 'a batch is left to others');
      else if (error instanceof UnavailableError) log.warn({ batch: id, reason: error.message }, 'a batch waits');
      else log.error({ err: error, batch: id }, 'a batch failed and is tried again');
    }
    await delay(retryMs, term.signal);
  }
}
