import { setTimeout as sleep } from 'node:timers/promises';
import type { Expectation, ProposedEvent, Written } from '#test/support/eventstoredb/event-log.ts';
import type { LogIndex } from '#test/support/eventstoredb/log-index.ts';
import type { SyncedFile } from '#test/support/eventstoredb/synced-file.ts';
import { type CallFailure, commitTimeout } from './failures.ts';
import type { AppendFault, Faults } from './faults.ts';

/** The outcome of an append: an answer, a failure, or nothing. */
export type AppendResult =
  | Written
  | { readonly kind: 'failed'; readonly failure: CallFailure }
  | { readonly kind: 'silence' };

const silence: AppendResult = { kind: 'silence' };

/** Carries out appends on the log of a leader, with the requested faults. They are answered once its index shows them. */
export class FaultyAppends {
  readonly #index: LogIndex;
  readonly #faults: Faults;
  readonly #cut: () => void;
  readonly #disk: SyncedFile | null;
  /** The stream and first id of each append that is stored but not answered yet. */
  readonly #inFlight = new Set<string>();

  /**
   * @param cut breaks every connection
   * @param disk where appends are synced before they are stored
   */
  constructor(index: LogIndex, faults: Faults, cut: () => void, disk: SyncedFile | null) {
    this.#index = index;
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
    if (fault === null) return this.#indexed(this.#plain(stream, expected, events));
    return this.#appendWith(fault, key, () => this.#index.log.append(stream, expected, events));
  }

  async #indexed(written: Written): Promise<AppendResult> {
    if (written.kind !== 'written' || written.position === null) return written;
    const isShown = await this.#index.shows(written.position, this.#faults.commitTimeoutMs);
    return isShown ? written : { kind: 'failed', failure: commitTimeout() };
  }

  #plain(stream: string, expected: Expectation, events: ReadonlyArray<ProposedEvent>): Written {
    const { log } = this.#index;
    const { end } = log;
    const written = log.append(stream, expected, events);
    const isRepeat = log.end === end && written.kind === 'written';
    if (!isRepeat || !this.#faults.repeatsTellFirstPosition || written.revision === null) return written;
    const first = log.find(stream, written.revision - BigInt(events.length - 1));
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
        return this.#indexed(written);
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
