import { type PastEvent, pastEvents, pastEventsCollection } from '#application/history/past-events.ts';
import { audienceOf } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { delay } from '#shared/async/delay.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Message } from '#webhooks/state/delivery-state.ts';
import { type DeliveredEndpoint, takesType } from './endpoint-registry.ts';

export interface PastFeederOptions {
  readonly documents: Pick<ReadStore, 'list'>;
  readonly store: Pick<EventStore, 'read'>;
  /** Waits a while until a read model has passed a position; false when it did not. */
  readonly waitForPosition: (collection: string, position: number) => Promise<boolean>;
  /** Up to which position the log was followed. */
  readonly followed: () => number;
  /** Where the log was followed from: requests behind it are obeyed as they are met there. */
  readonly followedFrom: number;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly signal: AbortSignal;
}

/** Endpoints that are fed at once. */
const fedAtOnce = 4;
const eventsRead = 100;
const retryMs = 1_000;
/** What happens while an endpoint is fed, to be offered behind it. */
const maxHeld = 100;

/** What happens while an endpoint is fed. */
interface Joining {
  /** Where the log was followed to as it began. */
  readonly since: number;
  readonly held: Message[];
  isOverfull: boolean;
}

/**
 * Feeds queues that are behind with what the audit's read model has after their positions, until each is where the log
 * is followed to: from then on it is live.
 */
export class PastFeeder {
  readonly #options: PastFeederOptions;
  readonly #wanting = new Set<DeliveredEndpoint>();
  readonly #feeding = new Map<DeliveredEndpoint, Promise<void>>();
  readonly #joining = new Map<DeliveredEndpoint, Joining>();

  constructor(options: PastFeederOptions) {
    this.#options = options;
  }

  /** Feeds an endpoint soon. */
  want(endpoint: DeliveredEndpoint): void {
    if (this.#wanting.has(endpoint)) return;
    this.#wanting.add(endpoint);
    queueMicrotask(() => this.#feedNext());
  }

  /** Takes note of a message to an endpoint that is behind. */
  hold(endpoint: DeliveredEndpoint, message: Message): void {
    const joining = this.#joining.get(endpoint);
    if (joining === undefined || joining.isOverfull) return;
    if (joining.held.length >= maxHeld) joining.isOverfull = true;
    else joining.held.push(message);
  }

  /** Waits until nothing is fed any more, after the signal has aborted. */
  async ended(): Promise<void> {
    await Promise.all(this.#feeding.values());
  }

  #feedNext(): void {
    for (const endpoint of this.#wanting) {
      if (this.#feeding.size >= fedAtOnce || this.#options.signal.aborted) return;
      if (this.#feeding.has(endpoint)) continue;
      this.#wanting.delete(endpoint);
      const feeding = this.#feedUntilFull(endpoint).finally(() => {
        this.#feeding.delete(endpoint);
        this.#feedNext();
      });
      this.#feeding.set(endpoint, feeding);
    }
  }

  async #feedUntilFull(endpoint: DeliveredEndpoint): Promise<void> {
    const { signal, log } = this.#options;
    try {
      if (endpoint.queue.hasRoom && !signal.aborted) await this.#feed(endpoint);
    } catch (error) {
      const fields = { webhookEndpoint: endpoint.id, error: String(error) };
      if (error instanceof UnavailableError) log.warn(fields, 'What a webhook endpoint missed cannot be read just now');
      else log.error({ ...fields, err: error }, 'What a webhook endpoint missed could not be read');
      await delay(retryMs, signal);
    }
    if (endpoint.queue.hasRoom) this.#wanting.add(endpoint);
  }

  async #feed(endpoint: DeliveredEndpoint): Promise<void> {
    const { followed, waitForPosition, signal } = this.#options;
    const joining: Joining = { since: followed(), held: [], isOverfull: false };
    this.#joining.set(endpoint, joining);
    try {
      if (!(await waitForPosition(pastEventsCollection, joining.since))) return await delay(retryMs, signal);
      if (await this.#feedUpTo(endpoint, joining.since)) this.#join(endpoint, joining);
    } finally {
      this.#joining.delete(endpoint);
    }
  }

  /** Offers what happened while it was fed; if all of it is taken, the queue is live. */
  #join({ queue }: DeliveredEndpoint, { since, held, isOverfull }: Joining): void {
    queue.passTo(since);
    if (isOverfull || !held.every((message) => queue.offer(message))) return;
    queue.passTo(this.#options.followed());
  }

  /** @returns whether everything up to a position was offered */
  async #feedUpTo(endpoint: DeliveredEndpoint, target: number): Promise<boolean> {
    const { documents, signal } = this.#options;
    const { queue } = endpoint;
    while (queue.offeredUpTo < target) {
      if (!queue.hasRoom || signal.aborted) return false;
      const before = queue.offeredUpTo;
      const audience = audienceOf(endpoint.facts.record);
      const { events, lookedUpTo } = await pastEvents(documents, audience, before, eventsRead);
      // It was sent back or disabled meanwhile.
      if (queue.offeredUpTo !== before || !queue.hasRoom) return false;
      for (const event of events) {
        if (event.position > target) break;
        if (!(await this.#take(endpoint, event))) return false;
      }
      if (lookedUpTo === null) return true;
      queue.passTo(Math.min(lookedUpTo, target));
    }
    return true;
  }

  /** @returns whether what comes next may be offered */
  async #take(endpoint: DeliveredEndpoint, event: PastEvent): Promise<boolean> {
    const { id, queue, facts } = endpoint;
    const { position, stream, revision, type } = event;
    const isOwn = event.resource === id;
    if (isOwn && type === 'WebhookTestRequested') {
      if (position <= this.#options.followedFrom) queue.test({ position, stream, revision, type });
      return true;
    }
    if (isOwn && type === 'WebhookReplayRequested' && (await this.#isSentBack(endpoint, event))) return false;
    return takesType(facts.record, type) ? queue.offer({ position, stream, revision, type }) : true;
  }

  async #isSentBack({ queue }: DeliveredEndpoint, { stream, revision, position }: PastEvent): Promise<boolean> {
    const [request] = (await this.#options.store.read(stream, revision, 1)).events;
    return request !== undefined && queue.replay(Number(request.data.after), position);
  }
}
