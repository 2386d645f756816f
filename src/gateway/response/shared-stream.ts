import type { ByteReservation } from '#exchange/byte-budget.ts';
import type { Client } from '#exchange/client.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { ClientStream } from './client-stream.ts';
import type { RefusedCall } from './error-response.ts';
import type { ResponseHead } from './response-handler.ts';

export interface EventStreamResponseOptions {
  readonly response: Client;
  /** The call that it answers, for the error in a broken stream. */
  readonly call: RefusedCall;
  /** Counts the bytes that are held. */
  readonly answerHold: ByteReservation;
  /** Makes the interpreter for the events of one attempt. */
  readonly createInterpreter: (head: ResponseHead) => StreamInterpreter;
  /** Whether the answer is held until it is complete. */
  readonly isHeldWhole: boolean;
  /** Whether another target may continue the text so far. Default: false. */
  readonly canContinue?: boolean;
  /** The bytes of the request that its first and last events repeat. Default: 0. */
  readonly repeatedBytes?: number;
  /** What the client gets in silence. Missing if nothing is sent before the content, and in its gaps. */
  readonly signOfLife?: string;
  /** Makes the events of a stream that fails before its first content; null or missing if the form of errors has them. */
  readonly failedStream?: (error: JsonObject) => string | null;
}

/** What all attempts of a streamed call share. */
export interface SharedStream {
  readonly options: EventStreamResponseOptions;
  readonly client: ClientStream;
  /** Delivers the last event; null while it has not come. */
  lastEvent: (() => Promise<void>) | null;
  /** Begins an event that passes in pieces. Its text is not kept, so no other target can continue it. */
  readonly beginPieces: () => void;
  readonly endPieces: () => void;
}
