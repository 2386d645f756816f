import type * as E from 'fp-ts/lib/Either.js';
import type { StreamState } from '#application/commands/stream-state.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Actor } from '#domain/shared/event.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';

/** Who wants it and why: goes into the metadata of every event. */
export interface Origin {
  readonly actor: Actor;
  readonly requestId: string;
  readonly correlationId: string;
  readonly causationId: string;
}

/** What a decision comes to: events (none when all is so already), and whose a new stream is. */
export interface Decision<Events> {
  readonly events: ReadonlyArray<EventOf<Events>>;
  /** Whose these events are; null: whose the stream is. */
  readonly tenant: Tenant | null;
}

/**
 * What `write` is asked: decide, claim, append.
 * @typeParam Other what `decide` may come to besides events and a failure; `write` passes it through
 */
export interface StreamWrite<State, Events, Other = never> {
  readonly entity: Entity<State, Events>;
  /** An id in the stream. */
  readonly id: string;
  readonly origin: Origin;
  /** Remembers the request in the stream. */
  readonly idempotency?: { readonly key: string; readonly body: string };
  /**
   * Does not wait for its turn on this stream, and may meet conflicts instead. Only for a write within another stream's
   * turn, where two turns could wait for each other for ever:
   *
   *     create phone number A            create phone number B, same number
   *     has the turn of phoneNumber-A    has the turn of phoneNumber-B
   *     claims: waits for the turn of    claims: has the turn of phoneNumberClaim-N,
   *       phoneNumberClaim-N  ────────►    finds that A holds it and has not begun, and closes it:
   *                           ◄────────    would wait for the turn of phoneNumber-A
   */
  readonly bypassQueue?: boolean;
  /**
   * Decides on the current state; asked again after each conflict.
   * @param deadline until when it may wait, on `performance.now()`'s clock
   */
  readonly decide: (
    stream: StreamState<State>,
    deadline: number,
  ) => E.Either<Failure | Other, Decision<Events>> | Promise<E.Either<Failure | Other, Decision<Events>>>;
  /**
   * Takes, for what was decided, what only one may have. It follows the decision, so that what is refused claims
   * nothing, and is asked again after each conflict. @returns why it cannot be had; null when it is taken
   */
  readonly claim?: (events: ReadonlyArray<EventOf<Events>>) => Promise<Failure | null>;
}

/** What came of it: the state after it, and the events appended (none when all was so already). */
export interface StreamWriteResult<State> {
  readonly stream: StreamState<State>;
  readonly events: ReadonlyArray<RecordedEvent>;
}
