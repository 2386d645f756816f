import {
  type AttemptFailure,
  malformed,
  refusalInBody,
  tooLarge,
  unfinished,
} from '#gateway/attempt/attempt-failure.ts';
import type { SseBatch } from '#gateway/framing/sse-splitter.ts';
import type { EventClassification } from '#gateway/framing/stream-interpreter.ts';
import type { LargeEventWay } from './open-large-event.ts';

/** The way of a stream's events to the client. */
export interface EventPassage {
  /** How a large event is held that does not pass in pieces. */
  readonly held: Exclude<LargeEventWay, 'passes'>;
  /** True if a large event has become more than has passed. */
  readonly hasMore: boolean;
  readonly pass: (batch: SseBatch) => void;
  /** Passes the next part of that event. Missing if each passes as a whole. */
  readonly passMore?: () => void;
  readonly note: (batch: SseBatch) => void;
}

export type LastEvent = Exclude<EventClassification, { kind: 'empty' | 'no-content' | 'content' | 'gateway-only' }>;

/** The failure; null if the stream is complete. */
export function failureOf(event: LastEvent, canEnd: boolean): AttemptFailure | null {
  if (event.kind === 'error') return refusalInBody(event.error);
  if (event.kind === 'malformed') return malformed;
  if (event.kind === 'too-large') return tooLarge;
  return canEnd ? null : unfinished;
}
