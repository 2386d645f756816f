import type { CircuitState } from '#gateway/relay/circuit-breaker.ts';

/** The target of an attempt: a provider's model. */
export interface AttemptedTarget {
  /** `provider/model`. */
  readonly id: string;
  readonly provider: string;
  /** As the provider calls it. */
  readonly model: string;
}

/**
 * The result of an attempt: `served`, `refused` (the request is invalid), `failed`, or `abandoned` if the client left.
 */
export type AttemptResult = 'served' | 'refused' | 'failed' | 'abandoned';

/** How an attempt failed, without the provider's message, which may quote the client's request. */
export interface AttemptError {
  /** The provider's code or the gateway's: `rate_limit_exceeded`, `provider_timeout`, … */
  readonly code: string;
  /** The provider's HTTP status; null without a response. */
  readonly status: number | null;
}

/** One attempt that has ended. */
export interface AttemptReport {
  readonly target: AttemptedTarget;
  readonly result: AttemptResult;
  /** Null if it was served or abandoned. */
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

/** Receives every attempt and every change of a circuit, during calls. It must never throw and never wait. */
export interface AttemptObserver {
  readonly attempt: (report: AttemptReport) => void;
  readonly circuit: (change: CircuitChange) => void;
}
