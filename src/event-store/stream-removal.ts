import type { StoredEvent } from './hash-chain.ts';

/**
 * Removes streams without a hash chain after an archive holds them. One contract suite
 * (`test/contract/stream-removal.ts`) tests every adapter.
 */
export interface StreamRemoval {
  /**
   * The streams whose names have this prefix and that may have events, each once, in no order.
   * @throws UnavailableError
   */
  streamNames(prefix: string): Promise<ReadonlyArray<string>>;
  /**
   * A stream's events as stored, in order, from a revision on, `limit` at most.
   * @throws UnavailableError
   */
  readRaw(
    stream: string,
    fromRevision: number,
    limit: number,
  ): ReadonlyArray<StoredEvent> | Promise<ReadonlyArray<StoredEvent>>;
  /**
   * Removes all events of a stream durably: reads of the stream no longer return them. A later append continues its
   * revisions. On EventStoreDB the log shows the events until the server is scavenged.
   * @param lastRevision of its last event
   * @returns false where it has later events: nothing is removed then
   * @throws UnavailableError: some of its first events may be removed
   */
  removeStream(stream: string, lastRevision: number): Promise<boolean>;
}
