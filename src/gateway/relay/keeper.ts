import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { Keeping, ResponseHead } from '#gateway/response/response-handler.ts';
import type { CallRecord } from './call-record.ts';

export interface KeptAnswer {
  /** The bytes of the whole answer, or the first or the last events of a stream. */
  readonly bytes: Buffer;
  /** The head of the provider's response. */
  readonly head: ResponseHead;
}

/** Keeps the answer of one call. Whatever rejects before its bytes leave fails the attempt. */
export interface Keeper {
  /**
   * Called before the client has any byte of an answer but its head. Missing for nothing.
   * @returns why the client must not have it; null if it may
   */
  readonly beforeFirstByte?: (answer: KeptAnswer) => Promise<AttemptFailure | null>;
  /**
   * Called with a complete answer before the client has all of it. Missing for nothing.
   * @returns what the client gets in the place of these bytes
   */
  readonly beforeLastByte?: (answer: KeptAnswer) => Promise<Buffer>;
  /**
   * Called when the call has ended. Never throws.
   * @returns the record that counts as usage; null if the call has none
   */
  readonly afterCall: (record: CallRecord) => CallRecord | null;
}

export function keptBy(keeper: Keeper, head: Omit<ResponseHead, 'keeping'>): ResponseHead {
  const { beforeFirstByte, beforeLastByte } = keeper;
  const kept: ResponseHead = {
    ...head,
    keeping: {
      beforeFirstByte: beforeFirstByte === undefined ? null : (bytes) => beforeFirstByte({ bytes, head: kept }),
      beforeLastByte: beforeLastByte === undefined ? null : (bytes) => beforeLastByte({ bytes, head: kept }),
    },
  };
  return kept;
}

export const notKept: Keeping = { beforeFirstByte: null, beforeLastByte: null };
