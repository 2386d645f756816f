import type { DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import type { DeliveryState, Message, OpenMessage } from '#webhooks/state/delivery-state.ts';
import type { QueueClock } from './queue-clock.ts';
import type { ReceiverRequest } from './receiver-request.ts';

/**
 * What came of a message. One that is postponed was not tried: what is to be sent could not be made just now. One that is
 * dropped never will be: its event is no message any more.
 */
export interface TryResult {
  readonly kind: 'delivered' | 'failed' | 'postponed' | 'dropped';
  /** What the receiver asks for. */
  readonly asks?: ReceiverRequest | null;
}

/** Why an endpoint is disabled by its receiver's answers: every try has failed for three days, or it wants no more. */
export type DisabledByAnswers = 'failing' | 'gone';

/** What a queue does its work with. */
export interface EndpointQueueOptions<Result extends TryResult> {
  readonly state: DeliveryState;
  readonly isEnabled: boolean;
  readonly clock: QueueClock;
  /** Up to which position the log was followed: what a live queue was offered. */
  readonly followed: () => number;
  /** Tries to deliver a message. Never rejects. */
  readonly deliver: (message: OpenMessage) => Promise<Result>;
  /** A try has ended. @param attempt its number, from 1 */
  readonly onTried: (
    message: Message,
    attempt: number,
    result: Result & { readonly kind: 'delivered' | 'failed' },
    outcome: DeliveryOutcome,
  ) => void;
  /** Its state is another. */
  readonly onChange: () => void;
  /** It has room for messages that come after its position. */
  readonly onRoom: () => void;
  /** Nothing is tried any more until it is enabled. */
  readonly onDisabled: (reason: DisabledByAnswers) => void;
}
