import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { EventStore, EventToAppend, RecordedEvent } from '#event-store/event-store.ts';
import { CommandRejectedError } from '#process-engine/create-process-tools.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';
import { processTools } from '#test/support/harness/process-tools.ts';
import type { AppendableEventStore } from './appendable-event-store.ts';
import type { ReadModel } from './in-memory-read-store.ts';

/** What happens to an append that waits at the gate. */
type AppendOutcome = 'stored' | 'refused' | 'lost' | 'lost-though-stored';

class Crashed extends Error {
  override readonly name = 'AbortError';
}

/**
 * A worker that runs a process over a log. It reacts at the same time to all events that the log has at its start, and
 * each of its appends waits until the test lets it pass. So a test decides the order of several workers, and when one
 * crashes.
 */
export class GatedWorker {
  readonly #waiting: Array<(verdict: AppendOutcome) => void> = [];
  #always: AppendOutcome | null = null;
  #done = false;
  readonly ended: Promise<void>;

  constructor(process: Process, store: AppendableEventStore, documents: ReadModel) {
    const writer = new StreamWriter({ store: this.#gate(store) });
    const events = store.log.filter((event) => process.types.includes(event.type) && process.handles(event));
    const reactions = events.map((event) => handle(process, event, processTools(writer, documents, event)));
    this.ended = Promise.all(reactions).then(() => {
      this.#done = true;
    });
  }

  /** Lets the next appends pass in their order, or refuses or loses them. */
  async pass(appends: number, verdict: AppendOutcome = 'stored'): Promise<void> {
    for (let left = appends; left > 0 && !this.#done; left -= 1) {
      await this.#quiet();
      this.#waiting.shift()?.(verdict);
    }
    await this.#quiet();
  }

  /** Lets all appends pass from now on, and waits until the worker has ended. */
  async finish(): Promise<void> {
    this.#decideAll('stored');
    await this.ended;
  }

  /** Ends the worker at its current append. */
  async crash(lastIsStored: boolean): Promise<void> {
    if (lastIsStored) await this.pass(1, 'lost-though-stored');
    this.#decideAll('lost');
    await this.ended;
  }

  #decideAll(verdict: AppendOutcome): void {
    this.#always = verdict;
    for (const settle of this.#waiting.splice(0)) settle(verdict);
  }

  /** Waits until the worker waits at the gate or has ended. */
  async #quiet(): Promise<void> {
    for (let turns = 0; turns < 2 || (this.#waiting.length === 0 && !this.#done); turns += 1) await nextTurn();
  }

  #gate(store: AppendableEventStore): EventStore {
    const append = async (stream: string, expectedRevision: number, events: ReadonlyArray<EventToAppend>) => {
      const verdict = this.#always ?? (await new Promise<AppendOutcome>((resolve) => this.#waiting.push(resolve)));
      if (verdict === 'refused') {
        return E.left({ kind: 'unavailable' as const, detail: 'not now', retryAfterSeconds: 1 });
      }
      if (verdict === 'lost') throw new Crashed();
      const appended = await store.append(stream, expectedRevision, events);
      if (verdict === 'lost-though-stored') throw new Crashed();
      return appended;
    };
    return {
      append,
      read: (stream, from, limit) => store.read(stream, from, limit),
      lastPosition: () => store.lastPosition(),
      close: () => store.close(),
    };
  }
}

/** Retries a reaction until it succeeds, as the runner does. A crash ends it. */
async function handle(process: Process, event: RecordedEvent, tools: ProcessTools): Promise<void> {
  for (;;) {
    try {
      await process.handle(event, tools);
      return;
    } catch (error) {
      if (error instanceof Crashed) return;
      if (!(error instanceof CommandRejectedError)) throw error;
    }
  }
}
