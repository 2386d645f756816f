import type { BatchEvents } from '#domain/batch/events.ts';
import type { Caller } from '#domain/shared/access.ts';

type Endpoint = BatchEvents['BatchCreated']['endpoint'];

/** One line of a batch's input. */
export interface BatchLine {
  readonly customId: string;
  /** The unchanged body of the line's request. */
  readonly body: Buffer;
}

export interface LineFault {
  readonly code: string;
  readonly message: string;
  /** The faulty parameter; null for the line as a whole. */
  readonly param: string | null;
}

export interface LineRequest {
  readonly endpoint: Endpoint;
  readonly batchId: string;
  /** The caller with the key that created the batch. */
  readonly caller: Caller;
  readonly idempotencyKey: string;
  /** Aborts when the result is not needed any more. */
  readonly signal: AbortSignal;
}

/** The answer to a line. Its status may be any, also a refusal's. */
export interface LineAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly requestId: string;
  readonly contentType: string;
  readonly body: Buffer;
  /** Ends the counting of its bytes. Called when the answer is not needed any more. */
  readonly release: () => void;
}

export type LineOutcome =
  | LineAnswer
  /** The line was not sent, because this node has no room now. */
  | { readonly kind: 'later'; readonly afterMs: number }
  /** The call was ended by its signal. */
  | { readonly kind: 'ended' };

/** Calls models like a client with the batch's key. */
export interface LineCalls {
  /** @returns the line, or why it is invalid */
  readonly read: (line: Buffer, endpoint: Endpoint) => Promise<BatchLine | LineFault>;
  /** Rejects only with `UnavailableError` or a bug. */
  readonly call: (line: BatchLine, request: LineRequest) => Promise<LineOutcome>;
}
