import { LRUCache } from 'lru-cache';
import type { StreamState } from '#application/commands/stream-state.ts';
import type { SnapshotStore, StoredSnapshot } from '#application/snapshots/snapshot-store.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { noStream } from '#event-store/event-store.ts';
import { withTimeout } from '#shared/async/with-timeout.ts';
import { readSnapshot, writeSnapshot } from './snapshot-text.ts';

/** A snapshot is due after this many events, or after this part of the stream's events if that is more. */
const minEventsBetween = 500;
const partOfStream = 0.1;

/** The limit of a MongoDB document is 16 MiB. */
const maxSnapshotCharacters = 12 * 1024 * 1024;

/** A slow read store must not delay a command, because the stream itself can be read. */
const readTimeoutMs = 500;

const maxStreamsKnown = 10_000;

/**
 * Takes and uses snapshots of long streams. A failure is harmless, because the stream is then read from its beginning.
 * One snapshot is taken at a time, after the command that made it due.
 */
export class StreamSnapshots {
  readonly #store: SnapshotStore;
  readonly #eventAt: (stream: string, revision: number) => Promise<RecordedEvent | undefined>;
  /** The revision of the newest useful snapshot that this process knows, by stream. */
  readonly #known = new LRUCache<string, number>({ max: maxStreamsKnown });
  #isTaking = false;

  /** @param eventAt reads one event of a stream */
  constructor(store: SnapshotStore, eventAt: (stream: string, revision: number) => Promise<RecordedEvent | undefined>) {
    this.#store = store;
    this.#eventAt = eventAt;
  }

  /**
   * Returns the stream's snapshot if it is of this log, of this release and not later than the revision.
   * @throws UnavailableError if the event store cannot be read
   */
  async find<State, Events>(
    entity: Entity<State, Events>,
    stream: string,
    upTo: number,
  ): Promise<StreamState<State> | null> {
    const snapshot = await withTimeout(readTimeoutMs, this.#store.read(stream), null).catch(() => null);
    if (snapshot === null || snapshot.stateVersion !== entity.stateVersion || snapshot.revision > upTo) return null;
    const event = await this.#eventAt(stream, snapshot.revision);
    if (event?.metadata.hash !== snapshot.hash) return null;
    const state = await readSnapshot<State>(snapshot.body).catch(() => null);
    if (state !== null) this.#known.set(stream, snapshot.revision);
    return state;
  }

  /** Takes a snapshot of a stream soon, if one is due. */
  note<State, Events>({ stateVersion }: Entity<State, Events>, stream: string, state: StreamState<State>): void {
    if (stateVersion === undefined || this.#isTaking || !this.#isDue(stream, state.revision)) return;
    this.#isTaking = true;
    void this.#take(stateVersion, stream, state).finally(() => {
      this.#isTaking = false;
    });
  }

  #isDue(stream: string, revision: number): boolean {
    if (revision < minEventsBetween) return false;
    const known = this.#known.get(stream) ?? noStream;
    return revision - known >= Math.max(minEventsBetween, known * partOfStream);
  }

  async #take(stateVersion: number, stream: string, state: StreamState<unknown>): Promise<void> {
    try {
      const { revision, hash } = state;
      // After a failure too, the next snapshot is not due immediately.
      this.#known.set(stream, revision);
      const body = await writeSnapshot(state, maxSnapshotCharacters);
      if (body === null || hash === null) return;
      const snapshot: StoredSnapshot = { stream, revision, hash, stateVersion, body };
      await this.#store.save(snapshot);
    } catch {
      // The stream is read from its beginning, or from an older snapshot.
    }
  }
}
