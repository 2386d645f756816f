import type { StoredEvent } from './event-store.ts';

/**
 * Removes streams without a hash chain after an archive holds them. One contract suite
 * (`test/contract/stream-removal.ts`) tests every adapter.
 */
export interface StreamRemoval {
  /** Names the streams that have this prefix and may have events, each once, in any order. @throws UnavailableError */
  streamNames(prefix: string): Promise<ReadonlyArray<string>>;
  /** Reads at most `limit` events as stored, in order, from the revision on. @throws UnavailableError */
  readRaw(
    stream: string,
    fromRevision: number,
    limit: number,
  ): ReadonlyArray<StoredEvent> | Promise<ReadonlyArray<StoredEvent>>;
  /**
   * Removes all events of a stream durably. Reads of the stream no longer return them. A later append continues its
   * revisions. On EventStoreDB the log shows the events until the server is scavenged.
   * @param lastRevision the revision of its last event
   * @returns false if it has later events; then nothing is removed
   * @throws UnavailableError; some of its first events may be removed
   */
  removeStream(stream: string, lastRevision: number): Promise<boolean>;
}
