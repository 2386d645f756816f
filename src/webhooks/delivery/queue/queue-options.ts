import type { DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import type { DeliveryState, Message, OpenMessage } from '#webhooks/state/delivery-state.ts';
import type { QueueClock } from './queue-clock.ts';
import type { ReceiverRequest } from './receiver-request.ts';

/**
 * The result of a try. `postponed`: no try was made, because the message could not be made or sent now. `dropped`: there
 * is no further try, because the event is not a message any more.
 */
export interface TryResult {
  readonly kind: 'delivered' | 'failed' | 'postponed' | 'dropped';
  /** What the receiver asks for in its answer. */
  readonly receiverRequest?: ReceiverRequest | null;
}

/** Why answers disable an endpoint: all tries have failed for three days, or the receiver wants no more messages. */
export type DisabledByAnswers = 'failing' | 'gone';

/** The state, settings and callbacks of a queue. */
export interface EndpointQueueOptions<Result extends TryResult> {
  readonly state: DeliveryState;
  readonly isEnabled: boolean;
  readonly clock: QueueClock;
  /** Returns the position up to which the log was followed. A live queue was offered every message up to it. */
  readonly followed: () => number;
  /** Tries to deliver a message. Never rejects. */
  readonly deliver: (message: OpenMessage) => Promise<Result>;
  /** Called when a try has ended. @param attempt its number, from 1 */
  readonly onTried: (
    message: Message,
    attempt: number,
    result: Result & { readonly kind: 'delivered' | 'failed' },
    outcome: DeliveryOutcome,
  ) => void;
  /** Called when the state has changed. */
  readonly onChange: () => void;
  /** Called when the queue has room for messages after its position. */
  readonly onRoom: () => void;
  /** Called when the receiver's answers have disabled the queue. */
  readonly onDisabled: (reason: DisabledByAnswers) => void;
}
