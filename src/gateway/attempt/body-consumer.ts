import type { IncomingHttpHeaders } from 'node:http';
import type { ReportedConsumption } from '#gateway/neutral/consumption.ts';
import type { AttemptFailure } from './attempt-failure.ts';

export interface AttemptControl {
  /**
   * Reports a sign of life before the first content, which extends the wait for it.
   * @param hasBegun whether a part of the answer has begun
   */
  readonly markAlive: (hasBegun: boolean) => void;
  /** From now on only the idle and the total timeout count. */
  readonly markContent: () => void;
  /**
   * The answer is complete except for its usage. The provider has a few seconds to send it, counted from the latest
   * call of this function.
   */
  readonly markEnding: () => void;
  /** The answer is complete. The provider has one second to end its response, so that its connection can be reused. */
  readonly complete: () => void;
  /** The answer cannot be used. */
  readonly fail: (failure: AttemptFailure) => void;
  /** Stops reading from the provider. No timeout runs until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface BodyConsumer {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** Called before the attempt fails, to handle the bytes that have arrived. It may still call `complete`. */
  readonly onAbort?: () => void;
  /** Returns what the provider has reported in the bytes so far; missing if such bodies report nothing. */
  readonly reported?: () => ReportedConsumption;
}

export type CreateBodyConsumer = (
  status: number,
  headers: IncomingHttpHeaders,
  attempt: AttemptControl,
) => BodyConsumer;
