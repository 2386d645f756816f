import { isShortenedOnPurpose } from '#domain/stream-kinds.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { IncompleteStream, IncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { GenerationProjector } from './generation-projector.ts';
import { StreamRevisions } from './stream-revisions.ts';

/** Maximum number of checked streams: 24 MB of memory while read models are built. */
const maxStreams = 1 << 20;
/** Maximum number of streams that are counted. */
const maxIncomplete = 1_000;
/** Maximum number of streams that are named. */
const maxNamed = 20;

/**
 * Finds streams that lack events, for generations that are built from the beginning of the log. It must get every event
 * of the log in order, but those of streams that retention shortens on purpose. An operator may have set a limit on a
 * stream: what the read models then show of its resource is not whole.
 */
export class StreamCheck {
  readonly #revisions = new StreamRevisions(maxStreams);
  readonly #incomplete = new Map<string, IncompleteStream>();
  /** The incomplete streams of each generation: those of which it has handled an event. */
  readonly #handled = new Map<GenerationProjector, Set<string>>();
  #isExact = true;

  /** @param projectors the generations that have handled the events */
  add(events: ReadonlyArray<RecordedEvent>, projectors: ReadonlyArray<GenerationProjector>): void {
    for (const event of events) {
      const isIncomplete = !isShortenedOnPurpose(event.stream) && this.#lacksEvents(event);
      if (!isIncomplete) continue;
      for (const projector of projectors) if (projector.types.has(event.type)) this.#note(projector, event.stream);
    }
  }

  /** The incomplete streams of which the generation has handled an event. */
  foundBy(projector: GenerationProjector): IncompleteStreams {
    const streams = [...(this.#handled.get(projector) ?? [])];
    const first = streams.slice(0, maxNamed).flatMap((stream) => this.#incomplete.get(stream) ?? []);
    return { count: streams.length, isExact: this.#isExact, first };
  }

  /** True if the stream lacks events up to and including the place before this event. */
  #lacksEvents({ stream, revision }: RecordedEvent): boolean {
    const before = this.#revisions.note(stream, revision);
    if (before === null) this.#isExact = false;
    else if (revision > before + 1 && !this.#incomplete.has(stream)) {
      if (this.#incomplete.size < maxIncomplete)
        this.#incomplete.set(stream, { stream, expectedRevision: before + 1, revision });
      else this.#isExact = false;
    }
    return this.#incomplete.size > 0 && this.#incomplete.has(stream);
  }

  #note(projector: GenerationProjector, stream: string): void {
    const streams = this.#handled.get(projector) ?? new Set();
    this.#handled.set(projector, streams.add(stream));
  }
}
