/**
 * The destination of one response: a connection or memory. Either `send` writes the whole response, or `start`, `write`
 * and `end` write it in pieces. Lists of headers have alternating names and values.
 */
export interface ResponseSink {
  /** Whether the receiver disconnected before the response was complete. Later writes are then ignored. */
  readonly isDisconnected: boolean;
  /** Adds headers to the response, for `send` or `start`. */
  readonly addHeaders: (headers: ReadonlyArray<string>) => void;
  /** Writes a whole response. */
  readonly send: (status: number, headers: ReadonlyArray<string>, body: string | Buffer) => void;
  /** Writes the head of a response that follows in pieces. */
  readonly start: (status: number, headers: ReadonlyArray<string>) => void;
  /** Writes a piece. @returns false if the receiver is slower; the writer then waits for `onceDrained` */
  readonly write: (bytes: Buffer | string) => boolean;
  /** Calls a listener once, when the receiver has received all pieces so far. A second call replaces the listener. */
  readonly onceDrained: (listener: () => void) => void;
  /** Completes a response in pieces. */
  readonly end: () => void;
  /** Aborts the response, so that the receiver cannot mistake a part for the whole. */
  readonly destroy: () => void;
  /**
   * Sets the listener for the receiver's leaving before the response is complete; null for none. It is called once, and
   * at once when the receiver has left.
   */
  readonly onDisconnect: (listener: (() => void) | null) => void;
}
