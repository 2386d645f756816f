import type { ByteReservation } from '#exchange/byte-budget.ts';
import type { Client } from '#exchange/client.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { ClientStream } from './client-stream.ts';
import type { RefusedCall } from './error-response.ts';
import type { ResponseHead } from './response-handler.ts';

export interface EventStreamResponseOptions {
  readonly response: Client;
  readonly call: RefusedCall;
  readonly answerHold: ByteReservation;
  readonly createInterpreter: (head: ResponseHead) => StreamInterpreter;
  readonly isHeldWhole: boolean;
  /** Whether another target may continue the text so far. Default: false. */
  readonly canContinue?: boolean;
  /** Number of bytes that the first and last events repeat. Default: 0. */
  readonly repeatedBytes?: number;
  /** What is sent in silence. Missing if nothing is sent before the content, and in its gaps. */
  readonly signOfLife?: string;
  /** The events of a stream that fails before its first content; null or missing if the form of errors has them. */
  readonly failedStream?: (error: JsonObject) => string | null;
}

/** What all attempts of a streamed call share. */
export interface SharedStream {
  readonly options: EventStreamResponseOptions;
  readonly client: ClientStream;
  /** Null while the last event has not come. */
  lastEvent: (() => Promise<void>) | null;
  /** Begins an event that passes in pieces. Its text is not kept, so no other target can continue it. */
  readonly beginPieces: () => void;
  readonly endPieces: () => void;
}
