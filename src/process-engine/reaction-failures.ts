import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { CommandRejectedError, isPassing } from './create-process-tools.ts';

export type FailureReason =
  /** A store cannot be used, or other writers were faster. The process waits until a retry succeeds. */
  | { readonly kind: 'unavailable'; readonly waitingFor: string }
  /** The event, or a stream that the reaction needs, cannot be read. A retry cannot help. */
  | { readonly kind: 'unreadable' }
  /** The reaction itself has failed, or its command was refused permanently. */
  | { readonly kind: 'own' };

export function reasonOf(error: unknown): FailureReason {
  if (error instanceof UnavailableError) return { kind: 'unavailable', waitingFor: error.message };
  if (error instanceof UnreadableEventError || error instanceof UnreadableStreamError) return { kind: 'unreadable' };
  const isWaiting = error instanceof CommandRejectedError && isPassing(error.failure);
  return isWaiting ? { kind: 'unavailable', waitingFor: error.message } : { kind: 'own' };
}

/** The pauses after a failure of its own. */
const ownLimits = { firstMs: 50, maxMs: 10_000 };
/**
 * The pauses during an outage. They are shorter, because a process continues soon after a store has recovered. A store
 * that is known to be unavailable costs no call.
 */
const outageLimits = { firstMs: 50, maxMs: 1_000 };
/** After this many failures of its own, a process stops at an event. */
const maxOwnFailures = 10;
/** It does not stop sooner than this after the first of them. */
const minFailingMs = 60_000;
/** What fails more often in a row lasts. Callers may see a shorter failure as a slow reaction. */
const maxShortFailures = 2;

export class ReactionFailures {
  readonly #ownBackOff = new BackOff(ownLimits);
  readonly #outageBackOff = new BackOff(outageLimits);
  #firstOwnAt: number | null = null;
  #own = 0;
  #outages = 0;
  #hasStopped: boolean;

  /** @param hasStopped at this event, so that one more failure stops the process again */
  constructor(hasStopped: boolean) {
    this.#hasStopped = hasStopped;
  }

  /** Counts the failure. @returns whether the process must stop at the event */
  mustStop({ kind }: FailureReason): boolean {
    if (kind === 'unavailable') this.#outages += 1;
    if (kind === 'own') this.#countOwn();
    return kind === 'unreadable' || (kind === 'own' && this.#isFinal);
  }

  /** True if the reaction waits for something that lasts. */
  get isWaiting(): boolean {
    return this.#outages > maxShortFailures;
  }

  get keepsFailing(): boolean {
    return this.#own > maxShortFailures;
  }

  stopped(): void {
    this.#hasStopped = true;
  }

  retryDelayMs({ kind }: FailureReason): number {
    return (kind === 'unavailable' ? this.#outageBackOff : this.#ownBackOff).failed();
  }

  get #isFinal(): boolean {
    if (this.#hasStopped) return true;
    return this.#own >= maxOwnFailures && clock.now() - (this.#firstOwnAt ?? 0) >= minFailingMs;
  }

  #countOwn(): void {
    this.#own += 1;
    this.#firstOwnAt ??= clock.now();
  }
}
