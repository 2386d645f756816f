import type { BatchEvents } from '#domain/batch/events.ts';
import type { Caller } from '#domain/shared/access.ts';

type Endpoint = BatchEvents['BatchCreated']['endpoint'];

/** A valid line of a batch's input. */
export interface BatchLine {
  readonly customId: string;
  /** The unchanged JSON of its request. */
  readonly body: Buffer;
}

/** Why a line is invalid. */
export interface LineFault {
  readonly code: string;
  readonly message: string;
  /** The invalid member; null for the line as a whole. */
  readonly param: string | null;
}

/** A line with its caller. */
export interface LineRequest {
  readonly endpoint: Endpoint;
  readonly batchId: string;
  /** The caller with the key that created the batch. */
  readonly caller: Caller;
  readonly idempotencyKey: string;
  /** Ends the call, whose result is not needed any more. */
  readonly signal: AbortSignal;
}

/** A line's answer, with any status. */
export interface LineAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly requestId: string;
  readonly contentType: string;
  readonly body: Buffer;
  /** Ends the counting of its bytes. Called when the answer is not needed any more. */
  readonly release: () => void;
}

/** The outcome of a line's call. */
export type LineOutcome =
  | LineAnswer
  /** The line was not sent, because this node has no room now. */
  | { readonly kind: 'later'; readonly afterMs: number }
  /** The call was ended by its signal. */
  | { readonly kind: 'ended' };

/** Makes the calls of batch lines, like a client with the batch's key. */
export interface LineCalls {
  /**
   * Reads a line.
   * @returns the line, or why it is invalid
   */
  readonly read: (line: Buffer, endpoint: Endpoint) => Promise<BatchLine | LineFault>;
  /** Makes the call of a line. Rejects only with `UnavailableError` or a bug. */
  readonly call: (line: BatchLine, request: LineRequest) => Promise<LineOutcome>;
}
