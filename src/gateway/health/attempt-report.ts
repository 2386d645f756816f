import type { CircuitState } from '#gateway/relay/circuit-breaker.ts';

/** What is asked: a provider's model. */
export interface AttemptedTarget {
  /** `provider/model`. */
  readonly id: string;
  readonly provider: string;
  /** As the provider calls it. */
  readonly model: string;
}

/**
 * What became of an attempt: `served`, `refused` (by the request's own fault), `failed`, or `abandoned` when the client
 * left.
 */
export type AttemptResult = 'served' | 'refused' | 'failed' | 'abandoned';

/** How an attempt failed, without a text of the provider's: it could hold what a client wrote. */
export interface AttemptError {
  /** The provider's code or the gateway's: `rate_limit_exceeded`, `provider_timeout`, … */
  readonly code: string;
  /** The provider's HTTP status; null where none came. */
  readonly status: number | null;
}

/** One attempt that has ended. */
export interface AttemptReport {
  readonly target: AttemptedTarget;
  readonly result: AttemptResult;
  /** Null where it was served or abandoned. */
  readonly error: AttemptError | null;
  /** From the attempt's beginning to its end. */
  readonly durationMs: number;
  readonly requestId: string;
}

/** A circuit that has changed its state. */
export interface CircuitChange {
  readonly target: AttemptedTarget;
  readonly state: CircuitState;
  /** The failure that opened it; null for another change. */
  readonly error: AttemptError | null;
  readonly requestId: string;
}

/** Is informed of every attempt and of every change of a circuit, in the middle of calls: it never throws and never waits. */
export interface AttemptObserver {
  readonly attempt: (report: AttemptReport) => void;
  readonly circuit: (change: CircuitChange) => void;
}
