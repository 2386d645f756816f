import { type PastEvent, pastEvents, pastEventsCollection } from '#application/history/past-events.ts';
import { audienceOf } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { isLoggedByStore } from '#event-store/unreadable-stream.ts';
import { areShown, type Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { FairQueue } from '#shared/async/fair-queue.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Message } from '#webhooks/state/delivery-state.ts';
import { type DeliveredEndpoint, endpointOwner, takesType } from './endpoint-registry.ts';

export interface PastFeederOptions {
  readonly documents: Pick<ReadStore, 'list'>;
  readonly store: Pick<EventStore, 'read'>;
  readonly positions: Pick<Positions, 'passed'>;
  /** The position up to which the log was followed. */
  readonly followed: () => number;
  /** The position from which the log was followed. The term handles the test requests after it. */
  readonly followedFrom: number;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly signal: AbortSignal;
}

const maxConcurrentFeeds = 4;
const maxEventsPerRead = 100;
const readModelWaitMs = 2_000;
const retryMs = 1_000;
const maxHeld = 100;

/** Messages that arrive during a feed are offered afterwards. */
interface Feed {
  /** The position up to which the log was followed when the feed began. */
  readonly since: number;
  readonly held: Message[];
  isOverfull: boolean;
}

/**
 * A queue that is behind gets the events after its position from the read model of the audit. When a queue has reached
 * the followed position of the log, it becomes live. Owners of endpoints are served in turn.
 */
export class PastFeeder {
  readonly #options: PastFeederOptions;
  readonly #wanting = new Set<DeliveredEndpoint>();
  readonly #turns = new FairQueue<DeliveredEndpoint>();
  readonly #feeding = new Map<DeliveredEndpoint, Promise<void>>();
  /** Endpoints that cannot be fed now, and wait before they are fed again. */
  readonly #pausing = new Map<DeliveredEndpoint, Promise<void>>();
  readonly #feeds = new Map<DeliveredEndpoint, Feed>();

  constructor(options: PastFeederOptions) {
    this.#options = options;
  }

  want(endpoint: DeliveredEndpoint): void {
    // When a feed or a pause ends, the endpoint is wanted again if it has room.
    if (this.#wanting.has(endpoint) || this.#feeding.has(endpoint) || this.#pausing.has(endpoint)) return;
    this.#wanting.add(endpoint);
    this.#turns.push(endpointOwner(endpoint.facts.record), endpoint);
    queueMicrotask(() => this.#feedNext());
  }

  /** Holds a message for an endpoint that is behind, if it is fed now. */
  hold(endpoint: DeliveredEndpoint, message: Message): void {
    const feed = this.#feeds.get(endpoint);
    if (feed === undefined || feed.isOverfull) return;
    if (feed.held.length >= maxHeld) feed.isOverfull = true;
    else feed.held.push(message);
  }

  /** Waits for the end. Called after the signal has aborted. */
  async ended(): Promise<void> {
    await Promise.all([...this.#feeding.values(), ...this.#pausing.values()]);
  }

  #feedNext(): void {
    while (this.#feeding.size < maxConcurrentFeeds && !this.#options.signal.aborted) {
      const endpoint = this.#turns.shift();
      if (endpoint === undefined) return;
      this.#wanting.delete(endpoint);
      const feeding = this.#feedUntilFull(endpoint).then((isPossible) => {
        this.#feeding.delete(endpoint);
        if (!isPossible) this.#pause(endpoint);
        else if (endpoint.queue.hasRoom) this.want(endpoint);
        this.#feedNext();
      });
      this.#feeding.set(endpoint, feeding);
    }
  }

  /** Pauses an endpoint while others are fed. */
  #pause(endpoint: DeliveredEndpoint): void {
    const pausing = delay(retryMs, this.#options.signal).then(() => {
      this.#pausing.delete(endpoint);
      if (endpoint.queue.hasRoom) this.want(endpoint);
    });
    this.#pausing.set(endpoint, pausing);
  }

  /** @returns whether it was possible to feed it */
  async #feedUntilFull(endpoint: DeliveredEndpoint): Promise<boolean> {
    const { signal, log } = this.#options;
    try {
      return !endpoint.queue.hasRoom || signal.aborted || (await this.#feed(endpoint));
    } catch (error) {
      const fields = { webhookEndpoint: endpoint.id, error: errorText(error) };
      if (error instanceof UnavailableError)
        log.warn(fields, 'The events that a webhook endpoint missed cannot be read now');
      else if (!isLoggedByStore(error))
        log.error({ ...fields, err: error }, 'The events that a webhook endpoint missed could not be read');
      return false;
    }
  }

  /** @returns false if the read model is behind */
  async #feed(endpoint: DeliveredEndpoint): Promise<boolean> {
    const { followed, positions, signal } = this.#options;
    const feed: Feed = { since: followed(), held: [], isOverfull: false };
    this.#feeds.set(endpoint, feed);
    try {
      const isShown = await areShown(positions, [pastEventsCollection], feed.since, { ms: readModelWaitMs, signal });
      if (isShown && (await this.#feedUpTo(endpoint, feed.since))) this.#offerHeld(endpoint, feed);
      return isShown;
    } finally {
      this.#feeds.delete(endpoint);
    }
  }

  /** If the queue accepts all of them, it becomes live. */
  #offerHeld({ queue }: DeliveredEndpoint, { since, held, isOverfull }: Feed): void {
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
      const { events, lookedUpTo } = await pastEvents(documents, audience, before, maxEventsPerRead);
      // A replay moved the queue back, or it was disabled, during the read.
      if (queue.offeredUpTo !== before || !queue.hasRoom) return false;
      for (const event of events) {
        if (event.position > target) break;
        if (!(await this.#offerPast(endpoint, event))) return false;
      }
      if (lookedUpTo === null) return true;
      queue.passTo(Math.min(lookedUpTo, target));
    }
    return true;
  }

  /** Offers the event, or carries out the request in it. @returns whether the next event may be offered */
  async #offerPast(endpoint: DeliveredEndpoint, event: PastEvent): Promise<boolean> {
    const { id, queue, facts } = endpoint;
    const { position, stream, revision, type } = event;
    const isOwn = event.resource === id;
    if (isOwn && type === 'WebhookTestRequested') {
      if (position <= this.#options.followedFrom) queue.test({ position, stream, revision, type });
      return true;
    }
    if (isOwn && type === 'WebhookReplayRequested' && (await this.#replay(endpoint, event))) return false;
    return takesType(facts.record, type) ? queue.offer({ position, stream, revision, type }) : true;
  }

  /** @returns whether the queue went back */
  async #replay({ queue }: DeliveredEndpoint, { stream, revision, position }: PastEvent): Promise<boolean> {
    const [request] = (await this.#options.store.read(stream, revision, 1)).events;
    return request !== undefined && queue.replay(Number(request.data.after), position);
  }
}
