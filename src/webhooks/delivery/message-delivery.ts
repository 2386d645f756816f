import { auditedEvents, type EntryReads } from '#application/history/audit-entries.ts';
import type { DeliveryError } from '#domain/webhook-endpoint/delivery.ts';
import { type SealedSecret, secretField, secretPrefix, validSecrets } from '#domain/webhook-endpoint/secret.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import type { Semaphore } from '#shared/async/semaphore.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Message } from '#webhooks/state/delivery-state.ts';
import type { TryResult } from './queue/queue-options.ts';
import { signatureHeaders } from './sign-message.ts';
import type { WebhookSender } from './webhook-sender.ts';

/** The result of a try that was made. */
export interface MadeTry extends TryResult {
  readonly kind: 'delivered' | 'failed';
  /** The `webhook-id`. */
  readonly eventId: string;
  readonly status: number | null;
  readonly error: DeliveryError | null;
  readonly durationMs: number;
}

/** The result of delivering a message. */
export type DeliveryTry = MadeTry | (TryResult & { readonly kind: 'postponed' | 'dropped' });

/** The current data of the endpoint that a message goes to. */
export interface DeliveryTarget {
  readonly id: string;
  readonly url: string;
  readonly secrets: ReadonlyArray<SealedSecret>;
}

export interface MessageDeliveryOptions {
  readonly reads: EntryReads;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Limits the tries of this node that run at the same time. */
  readonly slots: Semaphore;
  readonly log: Pick<Logger, 'error' | 'warn'>;
}

const postponed = { kind: 'postponed' } as const;

/** Makes, signs and sends a message. Each try makes the body again from the event, so that it omits erased data. */
export class MessageDelivery {
  readonly #options: MessageDeliveryOptions;

  constructor(options: MessageDeliveryOptions) {
    this.#options = options;
  }

  /** Makes one try to deliver a message. Never rejects. @param signal aborts the try */
  async deliver(target: DeliveryTarget, message: Message, signal: AbortSignal): Promise<DeliveryTry> {
    const { slots } = this.#options;
    await slots.acquire();
    try {
      return signal.aborted ? postponed : await this.#deliver(target, message, signal);
    } catch (error) {
      this.#logFailure(error, target, message);
      return postponed;
    } finally {
      slots.release();
    }
  }

  async #deliver(target: DeliveryTarget, message: Message, signal: AbortSignal): Promise<DeliveryTry> {
    const { reads, sender } = this.#options;
    const [made] = await auditedEvents(reads, [message]);
    if (made === undefined) return { kind: 'dropped' };
    const { eventId, entry } = made;
    const sentAt = new Date();
    const secrets = await this.#secretsOf(target, sentAt);
    if (secrets.length === 0) {
      return { kind: 'failed', eventId, status: null, error: 'secret-missing', durationMs: 0 };
    }
    const body = JSON.stringify(entry);
    const headers = signatureHeaders({ id: eventId, sentAt, body }, secrets);
    const began = performance.now();
    const { status, error, receiverRequest } = await sender.send({ url: target.url, headers, body, signal });
    // A try that this node aborted gives no information about the receiver.
    if (status === null && signal.aborted) return postponed;
    const durationMs = Math.round(performance.now() - began);
    return { kind: error === null ? 'delivered' : 'failed', eventId, status, error, receiverRequest, durationMs };
  }

  /** The valid secrets. The filter removes a secret whose key is lost, because its text cannot be read. */
  async #secretsOf({ id, secrets }: DeliveryTarget, now: Date): Promise<ReadonlyArray<string>> {
    const read = await this.#options.reads.personalReader([id]);
    return validSecrets(secrets, now.toISOString())
      .map(({ secret }) => read(id, secretField, secret))
      .filter((secret) => secret.startsWith(secretPrefix));
  }

  #logFailure(error: unknown, { id }: DeliveryTarget, { position }: Message): void {
    const { log } = this.#options;
    const fields = { webhookEndpoint: id, position, error: String(error) };
    if (error instanceof UnreadableEventError)
      log.error(fields, 'A webhook message waits because its event cannot be read');
    else log.warn(fields, 'A webhook message could not be made; the node tries again');
  }
}
