import * as E from 'fp-ts/lib/Either.js';
import {
  type AuditedEvent,
  auditedEvents,
  type EntryReads,
  type EventPlace,
} from '#application/history/audit-entries.ts';
import type { DeliveryError } from '#domain/webhook-endpoint/delivery.ts';
import { type SealedSecret, secretField, secretPrefix, validSecrets } from '#domain/webhook-endpoint/secret.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import type { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { abortable } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { TryResult } from '#webhooks/delivery/queue/endpoint-queue.ts';
import type { Message } from '#webhooks/state/delivery-state.ts';
import { signatureHeaders, type WebhookSender } from './webhook-sender.ts';

export interface MadeTry extends TryResult {
  readonly kind: 'delivered' | 'failed';
  /** The `webhook-id`. */
  readonly eventId: string;
  readonly status: number | null;
  readonly error: DeliveryError | null;
  readonly durationMs: number;
}

export type DeliveryTry = MadeTry | (TryResult & { readonly kind: 'postponed' | 'dropped' });

export interface DeliveryTarget {
  readonly id: string;
  /** Owners get the tries of this node in turn. */
  readonly owner: string;
  /** Called when the try begins, and before it sends; null if the message must not be sent now. */
  readonly current: () => EndpointData | null;
}

interface EndpointData {
  readonly url: string;
  readonly secrets: ReadonlyArray<SealedSecret>;
}

export interface MessageDeliveryOptions {
  readonly reads: EntryReads;
  readonly sender: Pick<WebhookSender, 'send'>;
  readonly admission: Pick<Admission, 'slot'>;
  readonly log: Pick<Logger, 'error' | 'warn'>;
}

interface MadeMessage {
  readonly url: string;
  readonly eventId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const postponed = { kind: 'postponed' } as const;
const dropped = { kind: 'dropped' } as const;

/** Each try makes the body again from the event, so that it omits erased data. */
export class MessageDelivery {
  readonly #options: MessageDeliveryOptions;
  readonly #entries: EntryMaker;

  constructor(options: MessageDeliveryOptions) {
    this.#options = options;
    this.#entries = new EntryMaker(options.reads);
  }

  /** Makes one try, in the turn of the endpoint's owner. Never rejects. @param signal aborts the try */
  async deliver(target: DeliveryTarget, message: Message, signal: AbortSignal): Promise<DeliveryTry> {
    const leave = await this.#options.admission.slot(new Held(target.owner), 'webhook try');
    if (E.isLeft(leave)) return postponed;
    try {
      return await abortable(signal, () => runFor(target.owner, () => this.#deliver(target, message, signal)));
    } catch (error) {
      // Nobody waits for a try that this node has aborted, whatever it waits for.
      if (signal.aborted) return postponed;
      throw error;
    } finally {
      leave.right();
    }
  }

  async #deliver(target: DeliveryTarget, message: Message, signal: AbortSignal): Promise<DeliveryTry> {
    const made = await this.#makeInTurn(target, message, signal);
    if ('kind' in made) return made;
    const { url, eventId, headers, body } = made;
    // The term may have ended, and the endpoint may have changed, while the message was made.
    if (signal.aborted || target.current()?.url !== url) return postponed;
    const began = clock.now();
    const { status, error, receiverRequest } = await this.#options.sender.send({ url, headers, body, signal });
    // A try that this node aborted gives no information about the receiver.
    if (status === null && signal.aborted) return postponed;
    const durationMs = Math.round(clock.now() - began);
    return { kind: error === null ? 'delivered' : 'failed', eventId, status, error, receiverRequest, durationMs };
  }

  /** @returns a try that has ended if there is nothing to send */
  async #makeInTurn(target: DeliveryTarget, message: Message, signal: AbortSignal): Promise<MadeMessage | DeliveryTry> {
    const leave = await this.#options.admission.slot(new Held(target.owner), 'webhook message');
    if (E.isLeft(leave)) return postponed;
    try {
      const endpoint = signal.aborted ? null : target.current();
      return endpoint === null ? postponed : await this.#make(target.id, endpoint, message);
    } catch (error) {
      return await this.#notMade(error, target.id, message);
    } finally {
      leave.right();
    }
  }

  /** @throws anything */
  async #make(
    id: string,
    { url, secrets: sealed }: EndpointData,
    message: Message,
  ): Promise<MadeMessage | DeliveryTry> {
    const made = await this.#entries.make(message);
    if (made === null) return dropped;
    const { eventId, entry } = made;
    const sentAt = new Date(clock.time());
    const secrets = await this.#secretsOf(id, sealed, sentAt);
    if (secrets.length === 0) return failedBefore(eventId, 'secret-missing');
    const body = JSON.stringify(entry);
    return { url, eventId, body, headers: signatureHeaders({ id: eventId, sentAt, body }, secrets) };
  }

  /** The secrets that are valid. The filter removes one whose key is lost, because its text cannot be read. */
  async #secretsOf(id: string, secrets: ReadonlyArray<SealedSecret>, now: Date): Promise<ReadonlyArray<string>> {
    const read = await this.#options.reads.personalReader([id]);
    return validSecrets(secrets, now.toISOString())
      .map(({ secret }) => read(id, secretField, secret))
      .filter((secret) => secret.startsWith(secretPrefix));
  }

  /** An unavailable store says nothing about a message. Any other failure counts, so that retries end. */
  async #notMade(error: unknown, webhookEndpoint: string, message: Message): Promise<DeliveryTry> {
    const { log } = this.#options;
    const fields = { webhookEndpoint, position: message.position, error: errorText(error) };
    if (error instanceof UnavailableError) {
      log.warn(fields, 'A webhook message cannot be made now; the node tries again');
      return postponed;
    }
    log.error(fields, 'A webhook message could not be made, which counts as a failed try');
    try {
      const eventId = await this.#eventIdOf(message);
      return eventId === null ? dropped : failedBefore(eventId, 'message-not-made');
    } catch {
      return postponed;
    }
  }

  /** @returns null if the stream does not show such an event @throws UnavailableError */
  async #eventIdOf({ stream, revision }: Message): Promise<string | null> {
    try {
      return await this.#options.reads.history.eventIdAt(stream, revision);
    } catch (error) {
      if (error instanceof UnreadableEventError) return error.eventId;
      if (error instanceof UnreadableStreamError) return null;
      throw error;
    }
  }
}

/** The result of a try that has sent nothing. */
function failedBefore(eventId: string, error: DeliveryError): MadeTry {
  return { kind: 'failed', eventId, status: null, error, durationMs: 0 };
}

/**
 * An event goes to many endpoints at the same time, so requests in the same turn of the event loop share one entry. An
 * entry is never older than the request, so that it omits erased data.
 */
export class EntryMaker {
  readonly #reads: EntryReads;
  /** The entries whose making begins in the next turn, by the position of the event. */
  readonly #asked = new Map<number, Promise<AuditedEvent | null>>();

  constructor(reads: EntryReads) {
    this.#reads = reads;
  }

  /** @returns null if the event is not shown any more @throws UnavailableError; UnreadableEventError */
  make(place: EventPlace): Promise<AuditedEvent | null> {
    const asked = this.#asked.get(place.position) ?? this.#makeNextTurn(place);
    this.#asked.set(place.position, asked);
    return asked;
  }

  async #makeNextTurn(place: EventPlace): Promise<AuditedEvent | null> {
    await clock.nextTurn();
    this.#asked.delete(place.position);
    const [made] = await auditedEvents(this.#reads, [place]);
    return made ?? null;
  }
}
