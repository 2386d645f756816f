import type { StoredEvent } from './hash-chain.ts';

/**
 * Removes streams that have no hash chain, once an archive holds them. One contract suite
 * (`test/contract/stream-removal.ts`) holds every adapter to it.
 */
export interface StreamRemoval {
  /**
   * The streams whose name begins so and that may have events, each once, in no order.
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
   * Removes all events of a stream, durably: nobody reads them from the stream any more. An append after that continues
   * its revisions. On EventStoreDB the log shows the events until the server is scavenged.
   * @param lastRevision of its last event
   * @returns false where it has later events: nothing is removed then
   * @throws UnavailableError: some of its first events may be removed
   */
  removeStream(stream: string, lastRevision: number): Promise<boolean>;
}
