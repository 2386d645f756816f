import type { BatchEvents } from '#domain/batch/events.ts';
import type { Caller } from '#domain/shared/access.ts';

type Endpoint = BatchEvents['BatchCreated']['endpoint'];

/** Of a batch's input. */
export interface BatchLine {
  readonly customId: string;
  /** Of its request, unchanged. */
  readonly body: Buffer;
}

export interface LineFault {
  readonly code: string;
  readonly message: string;
  /** Null for the line as a whole. */
  readonly param: string | null;
}

export interface LineRequest {
  readonly endpoint: Endpoint;
  readonly batchId: string;
  /** With the key that created the batch. */
  readonly caller: Caller;
  readonly idempotencyKey: string;
  /** The result is not needed any more. */
  readonly signal: AbortSignal;
}

/** Its status may be any, also a refusal's. */
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

/** Like a client with the batch's key. */
export interface LineCalls {
  /** @returns the line, or why it is invalid */
  readonly read: (line: Buffer, endpoint: Endpoint) => Promise<BatchLine | LineFault>;
  /** Rejects only with `UnavailableError` or a bug. */
  readonly call: (line: BatchLine, request: LineRequest) => Promise<LineOutcome>;
}
