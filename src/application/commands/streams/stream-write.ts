import type * as E from 'fp-ts/lib/Either.js';
import type { StreamState } from '#application/commands/stream-state.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Actor } from '#domain/shared/event.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';

/** The origin of a write, for the metadata of every event. */
export interface Origin {
  readonly actor: Actor;
  readonly requestId: string;
  readonly correlationId: string;
  readonly causationId: string;
}

/** The result of a decision: events (none if nothing changes), and the tenant of a new stream. */
export interface Decision<Events> {
  readonly events: ReadonlyArray<EventOf<Events>>;
  /** The tenant of these events; null for the stream's. */
  readonly tenant: Tenant | null;
}

/**
 * A request to `write`: decide, claim, append. @typeParam Other the results of `decide` besides events and a failure;
 * `write` passes them through
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
   * turn, where two turns could wait for each other forever:
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
   * Takes the claims of the decided events. It runs after the decision, so that a refused request leaves no claim, and
   * again after each conflict.
   * @returns why a claim cannot be taken, or another result; null if all are taken
   */
  readonly claim?: (decision: Decision<Events>) => Promise<Failure | NoInfer<Other> | null>;
}

/** The result of a write: the state after it, and the appended events (none if nothing changed). */
export interface StreamWriteResult<State> {
  readonly stream: StreamState<State>;
  readonly events: ReadonlyArray<RecordedEvent>;
}
