import type { RecordedEvent } from '#event-store/event-store.ts';
import type { Process } from './process.ts';

/** The most streams that one process remembers: about 2.5 MB of names. */
const maxStreams = 25_000;

/**
 * The streams of which a process has seen an event of the types that it remembers. It knows all of them only while it
 * follows the log from its beginning, because nothing of it is stored.
 */
export class SeenStreams {
  readonly #types: ReadonlySet<string>;
  /** Null when some may be missing. */
  #streams: Set<string> | null;

  /** @param isFromBeginning whether the process sees every event of the log from now on */
  constructor({ remembers = [] }: Pick<Process, 'remembers'>, isFromBeginning: boolean) {
    this.#types = new Set(remembers);
    this.#streams = isFromBeginning ? new Set() : null;
  }

  /** Must be called with each event, in order, after the process has handled it. */
  add({ type, stream }: Pick<RecordedEvent, 'type' | 'stream'>): void {
    if (this.#streams === null || !this.#types.has(type)) return;
    this.#streams.add(stream);
    if (this.#streams.size > maxStreams) this.#streams = null;
  }

  /** Whether it has seen such an event of a stream; null when it cannot say. */
  has(stream: string): boolean | null {
    return this.#streams?.has(stream) ?? null;
  }
}
