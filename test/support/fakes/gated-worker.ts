import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import type { EventStore, EventToAppend, RecordedEvent } from '#event-store/event-store.ts';
import { CommandRejectedError } from '#process-engine/command-rejected-error.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';
import { processTools } from '#test/support/harness/process-tools.ts';
import type { AppendableEventStore } from './appendable-event-store.ts';
import type { ReadModel } from './in-memory-read-store.ts';

/** What becomes of an append that waits at the gate. */
type Verdict = 'stored' | 'refused' | 'lost' | 'lost-though-stored';

class Crashed extends Error {
  override readonly name = 'AbortError';
}

/**
 * A process as one worker runs it over a log: it reacts to every event there was when it began, all at once, and each of
 * its appends waits until it is let through. So a test says who comes first, and who ends in the middle.
 */
export class GatedWorker {
  readonly #waiting: Array<(verdict: Verdict) => void> = [];
  #always: Verdict | null = null;
  #done = false;
  readonly ended: Promise<void>;

  constructor(process: Process, store: AppendableEventStore, documents: ReadModel) {
    const handler = new StreamWriter({ store: this.#gate(store) });
    const events = store.log.filter((event) => process.types.includes(event.type) && process.concerns(event));
    const reactions = events.map((event) => react(process, event, processTools(handler, documents, event)));
    this.ended = Promise.all(reactions).then(() => {
      this.#done = true;
    });
  }

  /** Lets so many appends through, in the order in which they came, or makes something else of them. */
  async pass(appends: number, verdict: Verdict = 'stored'): Promise<void> {
    for (let left = appends; left > 0 && !this.#done; left -= 1) {
      await this.#quiet();
      this.#waiting.shift()?.(verdict);
    }
    await this.#quiet();
  }

  /** Lets everything through from now on, and waits for the end. */
  async finish(): Promise<void> {
    this.#decideAll('stored');
    await this.ended;
  }

  /** Ends it where it is. */
  async crash(lastIsStored: boolean): Promise<void> {
    if (lastIsStored) await this.pass(1, 'lost-though-stored');
    this.#decideAll('lost');
    await this.ended;
  }

  #decideAll(verdict: Verdict): void {
    this.#always = verdict;
    for (const settle of this.#waiting.splice(0)) settle(verdict);
  }

  /** Waits until it waits itself, or has ended. */
  async #quiet(): Promise<void> {
    for (let turns = 0; turns < 2 || (this.#waiting.length === 0 && !this.#done); turns += 1) await nextTurn();
  }

  #gate(store: AppendableEventStore): EventStore {
    const append = (stream: string, expectedRevision: number, events: ReadonlyArray<EventToAppend>) => async () => {
      const verdict = this.#always ?? (await new Promise<Verdict>((resolve) => this.#waiting.push(resolve)));
      if (verdict === 'refused') {
        return E.left({ kind: 'unavailable' as const, detail: 'not now', retryAfterSeconds: 1 });
      }
      if (verdict === 'lost') throw new Crashed();
      const appended = await store.append(stream, expectedRevision, events)();
      if (verdict === 'lost-though-stored') throw new Crashed();
      return appended;
    };
    return {
      append,
      read: (stream, from, limit) => store.read(stream, from, limit),
      subscribe: (options) => store.subscribe(options),
      lastPosition: () => store.lastPosition(),
      close: () => store.close(),
    };
  }
}

/** Tried until it succeeds, as the runner does it; a crash ends it. */
async function react(process: Process, event: RecordedEvent, tools: ProcessTools): Promise<void> {
  for (;;) {
    try {
      await process.react(event, tools);
      return;
    } catch (error) {
      if (error instanceof Crashed) return;
      if (!(error instanceof CommandRejectedError)) throw error;
    }
  }
}
