import type { Tenant } from '#domain/shared/tenancy.ts';
import { Batcher } from '#shared/async/batcher.ts';
import type { Consumption } from './cost.ts';

/** What became of a call: `served`, `refused` (by the caller's fault), `failed`, `broken-off` in mid-answer, or the caller left. */
export type CallOutcome = 'served' | 'refused' | 'failed' | 'broken-off' | 'client-gone';

/** A try that failed, on its way to an answer or to none. */
export interface FailedTry {
  /** `provider/model`. */
  readonly target: string;
  /** See `errorTypeOf`. */
  readonly errorType: string;
}

/** What is kept of one call, with whose key it was: no prompt, no answer, no text that is spoken. Times are in ms from when the whole request had come. */
export interface CallRecord extends Consumption, Tenant {
  readonly operation: 'chat' | 'speech' | 'transcription';
  readonly keyId: string;
  /** The catalogue tag, or the voice that chose the model. */
  readonly model: string;
  /** `provider/model` of the last attempt; null where none was made. */
  readonly target: string | null;
  /** Its provider's name. */
  readonly provider: string | null;
  readonly streamed: boolean;
  readonly outcome: CallOutcome;
  /** OpenAI's error code, or the gateway's; null where it was served. */
  readonly errorCode: string | null;
  readonly attempts: number;
  /** Of the attempts, those that failed, in order. */
  readonly failedTries: ReadonlyArray<FailedTry>;
  readonly headersMs: number | null;
  readonly firstContentMs: number | null;
  readonly totalMs: number;
  /** By the configured price, in its currency; null where there is no price or nothing is known that it is for. */
  readonly cost: number | null;
}

/** Where records of calls go. */
export interface Usage {
  /** Never throws, never waits. */
  readonly record: (record: CallRecord) => void;
}

/** Hands records out many at a time, off the requests' path, so that no call is slowed for them. */
export class UsageBuffer implements Usage {
  readonly #records: Batcher<CallRecord>;
  #dropped = 0;

  /** @param take what is handed the records; what it throws is its own trouble and is lost with them */
  constructor(take: (records: ReadonlyArray<CallRecord>) => void) {
    this.#records = new Batcher((records) => {
      try {
        take(records);
      } catch {
        this.#dropped += records.length;
      }
    });
  }

  /** Records lost since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  record = (record: CallRecord): void => this.#records.add(record);

  /** Hands out what waits. */
  readonly flush = (): void => this.#records.drain();
}
