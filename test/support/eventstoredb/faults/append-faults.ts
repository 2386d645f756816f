import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog, Expectation, ProposedEvent, Written } from '#test/support/eventstoredb/event-log.ts';
import type { SyncedFile } from '#test/support/eventstoredb/synced-file.ts';
import { type CallFailure, commitTimeout } from './failures.ts';
import type { AppendFault, Faults } from './faults.ts';

/** The outcome of an append: an answer, a failure, or nothing. */
export type AppendResult =
  | Written
  | { readonly kind: 'failed'; readonly failure: CallFailure }
  | { readonly kind: 'silence' };

const silence: AppendResult = { kind: 'silence' };

/** Carries out appends on the log, with the requested faults. */
export class FaultyAppends {
  readonly #log: EventLog;
  readonly #faults: Faults;
  readonly #cut: () => void;
  readonly #disk: SyncedFile | null;
  /** The stream and first id of each append that is stored but not answered yet. */
  readonly #inFlight = new Set<string>();

  /**
   * @param cut breaks every connection
   * @param disk where appends are synced before they are stored
   */
  constructor(log: EventLog, faults: Faults, cut: () => void, disk: SyncedFile | null) {
    this.#log = log;
    this.#faults = faults;
    this.#cut = cut;
    this.#disk = disk;
  }

  async append(stream: string, expected: Expectation, events: ReadonlyArray<ProposedEvent>): Promise<AppendResult> {
    if (this.#disk !== null) await this.#disk.write(events.flatMap(({ data, metadata }) => [data, metadata]));
    const key = `${stream} ${events[0]?.id}`;
    if (this.#inFlight.has(key)) {
      await sleep(this.#faults.commitTimeoutMs, undefined, { ref: false });
      return { kind: 'failed', failure: commitTimeout() };
    }
    const fault = this.#faults.nextAppends.shift() ?? this.#faults.everyAppend;
    if (fault === null) return this.#plain(stream, expected, events);
    return this.#appendWith(fault, key, () => this.#log.append(stream, expected, events));
  }

  #plain(stream: string, expected: Expectation, events: ReadonlyArray<ProposedEvent>): Written {
    const { length } = this.#log.events;
    const written = this.#log.append(stream, expected, events);
    const isRepeat = this.#log.events.length === length && written.kind === 'written';
    if (!isRepeat || !this.#faults.repeatsTellFirstPosition || written.revision === null) return written;
    const first = this.#log.find(stream, written.revision - BigInt(events.length - 1));
    return { ...written, position: first?.position ?? null };
  }

  async #appendWith(fault: AppendFault, key: string, append: () => Written): Promise<AppendResult> {
    if (fault.kind === 'ignore') return silence;
    if (fault.kind === 'fail') return { kind: 'failed', failure: fault.failure };
    const written = append();
    switch (fault.kind) {
      case 'answer-late':
        this.#inFlight.add(key);
        await sleep(fault.milliseconds, undefined, { ref: false });
        this.#inFlight.delete(key);
        return written;
      case 'store-and-drop-answer':
        return silence;
      case 'store-and-fail':
        return { kind: 'failed', failure: fault.failure };
      case 'store-and-cut':
        this.#cut();
        return silence;
    }
  }
}
