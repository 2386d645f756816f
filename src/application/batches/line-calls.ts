import type { Readable } from 'node:stream';
import type { BatchEvents } from '#domain/batch/events.ts';
import type { Caller } from '#domain/shared/tenancy.ts';

type Endpoint = BatchEvents['BatchCreated']['endpoint'];

/** A line of a batch's input that can be asked. */
export interface BatchLine {
  readonly customId: string;
  /** The JSON of its request, as it was written. */
  readonly body: Buffer;
}

/** Why a line cannot be asked. */
export interface LineFault {
  readonly code: string;
  readonly message: string;
  /** The member that is wrong; null for the line as a whole. */
  readonly param: string | null;
}

/** A file that a line names, to be sent. */
export interface LineFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  /** @throws UnavailableError */
  readonly open: () => Promise<Readable | null>;
}

/** What a line is asked with. */
export interface LineRequest {
  readonly endpoint: Endpoint;
  /** The holder of the key that made the batch. */
  readonly caller: Caller;
  readonly idempotencyKey: string;
  /** Finds a file of the batch's project; null where there is none. @throws UnavailableError */
  readonly findFile: (fileId: string) => Promise<LineFile | null>;
  /** Ends the call: what it comes to is not wanted any more. */
  readonly signal: AbortSignal;
}

/** A line's answer, whatever its status. */
export interface LineAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly requestId: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** What came of asking a line. */
export type LineOutcome =
  | LineAnswer
  /** This node has no room for it now: it was not sent. */
  | { readonly kind: 'later'; readonly afterMs: number }
  /** The call was ended by its signal. */
  | { readonly kind: 'ended' };

/** Asks lines of batches, as a client would that had the key. */
export interface LineCalls {
  /** Reads a line. @returns it, or why it cannot be asked */
  readonly read: (line: Buffer, endpoint: Endpoint) => Promise<BatchLine | LineFault>;
  /** Asks one. Never rejects but with `UnavailableError`, or a bug. */
  readonly call: (line: BatchLine, request: LineRequest) => Promise<LineOutcome>;
}
