/**
 * Where the response to one request is written: a connection, or memory. Either `send` writes all of it, or `start`,
 * `write` and `end` write it in pieces. Header lists hold names and values in turn.
 */
export interface ResponseSink {
  /** Whether the receiver left before its response was complete. What is written after that is dropped. */
  readonly isDisconnected: boolean;
  /** Adds headers to the response, whichever follows. */
  readonly addHeaders: (headers: ReadonlyArray<string>) => void;
  /** Writes a whole response. */
  readonly send: (status: number, headers: ReadonlyArray<string>, body: string | Buffer) => void;
  /** Writes the head of a response that follows in pieces. */
  readonly start: (status: number, headers: ReadonlyArray<string>) => void;
  /** Writes a piece. @returns false when the receiver is slower than the writer, who then waits for `onceDrained` */
  readonly write: (bytes: Buffer | string) => boolean;
  /** Calls back once, when the receiver has taken what was written. A second call replaces the listener. */
  readonly onceDrained: (listener: () => void) => void;
  /** Completes a response in pieces. */
  readonly end: () => void;
  /** Breaks the response off, so that the receiver cannot take its part for the whole. */
  readonly destroy: () => void;
  /**
   * Sets the listener for the receiver's leaving before the response is complete; null for none. It is called once, and
   * at once when the receiver has left.
   */
  readonly onDisconnect: (listener: (() => void) | null) => void;
}
