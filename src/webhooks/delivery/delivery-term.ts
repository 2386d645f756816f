import { setMaxListeners } from 'node:events';
import { historyOfType, listedTypes } from '#domain/histories.ts';
import { isShownTo } from '#domain/history/audience.ts';
import { type RecordedEventOf, streamKeyOf } from '#domain/shared/entity.ts';
import { type WebhookEndpointEvents, webhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import type { EndpointTries } from '#domain/webhook-endpoint/running-tries.ts';
import { audienceOf } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { allSettled } from '#shared/async/all-settled.ts';
import { abortable, delay, withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { DisabledByAnswers } from '#webhooks/delivery/queue/endpoint-queue.ts';
import { type DeliveryState, newDeliveryState, type OpenMessage } from '#webhooks/state/delivery-state.ts';
import type { DeliveryRecords } from './delivery-records.ts';
import {
  type DeliveredEndpoint,
  EndpointRegistry,
  type EndpointRevision,
  endpointOwner,
  takesType,
  viewAfter,
} from './endpoint-registry.ts';
import type { DeliveryTry, MessageDelivery } from './message-delivery.ts';
import { PastFeeder, type PastFeederOptions } from './past-feeder.ts';
import { EndpointQueue } from './queue/endpoint-queue.ts';
import { type DeliveryFigures, deliveryFigures } from './webhook-metrics.ts';

export interface EndpointAtStart {
  readonly id: string;
  readonly facts: EndpointRevision;
  readonly state: DeliveryState;
}

export interface DeliveryTermOptions extends Omit<PastFeederOptions, 'followed' | 'followedFrom' | 'signal'> {
  readonly store: Pick<EventStore, 'read'>;
  readonly tail: Pick<LogTail, 'follow'>;
  readonly endpoints: ReadonlyArray<EndpointAtStart>;
  /** The position as of which the endpoints are. The term follows the log from here. */
  readonly from: number;
  /** @param followed the position up to which the log was followed */
  readonly createRecords: (followed: () => number) => DeliveryRecords;
  readonly delivery: Pick<MessageDelivery, 'deliver'>;
  /** Resolves when the event is stored or the signal aborts. */
  readonly disable: (endpointId: string, reason: DisabledByAnswers, signal: AbortSignal) => Promise<void>;
  /** True if this node still holds the lease, by its own clock. */
  readonly isHeld: () => boolean;
  readonly log: Logger;
  /** Ends the term. */
  readonly signal: AbortSignal;
}

const ownTypes: ReadonlySet<string> = new Set(Object.keys(webhookEndpointEvents));
const saveIntervalMs = 1_000;
/** Time limit of running tries, then of those that the end of the term aborts, and of the last records. */
const endTimeoutMs = 1_000;
const abortTimeoutMs = 100;
const recordsTimeoutMs = 1_500;

type EndpointEvent = RecordedEventOf<WebhookEndpointEvents> & { readonly position: number };

export class DeliveryTerm {
  readonly #options: DeliveryTermOptions;
  readonly #registry = new EndpointRegistry();
  readonly #records: DeliveryRecords;
  readonly #feeder: PastFeeder;
  /** Ends all work of this term. */
  readonly #ending = new AbortController();
  readonly #abortingTries = new AbortController();
  readonly #signal: AbortSignal;
  /** The position of the last event that was given to the endpoints. */
  #handled: number;
  #following: Following | null = null;
  /** The newest periodic save. */
  #saving: Promise<void> = Promise.resolve();

  constructor(options: DeliveryTermOptions) {
    this.#options = options;
    this.#handled = options.from;
    this.#signal = AbortSignal.any([options.signal, this.#ending.signal]);
    // Every running try listens to it.
    setMaxListeners(0, this.#abortingTries.signal);
    const followed = () => this.#followed;
    this.#records = options.createRecords(followed);
    this.#feeder = new PastFeeder({ ...options, followed, followedFrom: options.from, signal: this.#signal });
    for (const endpoint of options.endpoints) this.#add(endpoint);
  }

  /**
   * Delivers until its signal aborts. Then it ends within three seconds, whatever it waits for: what is not recorded is
   * sent again.
   * @throws FencedError if another node delivers now; UnavailableError at the start
   */
  async run(): Promise<void> {
    await abortable(this.#signal, () => this.#records.begin(this.#registry.all()));
    for (const endpoint of this.#registry.all()) this.#start(endpoint);
    try {
      await allSettled([this.#endOthersOnFailure(this.#follow()), this.#endOthersOnFailure(this.#saveOften())]);
    } finally {
      await this.#end();
    }
  }

  figures(): DeliveryFigures {
    return deliveryFigures([...this.#registry.all()].map(({ queue }) => queue));
  }

  /** The tries of an endpoint; null if it has no queue yet. */
  triesOf(endpointId: string): EndpointTries | null {
    const endpoint = this.#registry.get(endpointId);
    if (endpoint === undefined) return null;
    return { running: endpoint.queue.running, revision: endpoint.facts.revision };
  }

  /** If this part of the term fails, the other parts end too. */
  async #endOthersOnFailure(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#ending.abort();
      throw error;
    }
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    for (const { queue } of this.#registry.all()) queue.stop();
    await Promise.all([this.#triesEnd(endTimeoutMs), withTimeout(endTimeoutMs, this.#feeder.ended(), undefined)]);
    this.#abortingTries.abort();
    await this.#triesEnd(abortTimeoutMs);
    for (const { queue } of this.#registry.all()) queue.close();
    await withTimeout(recordsTimeoutMs, this.#saveLast(), undefined);
  }

  async #saveLast(): Promise<void> {
    await this.#saving.catch(() => undefined);
    await this.#records.end(this.#registry.all());
  }

  async #triesEnd(limitMs: number): Promise<void> {
    const until = clock.now() + limitMs;
    while (this.#isTrying() && clock.now() < until) await delay(10);
  }

  #isTrying(): boolean {
    for (const { queue } of this.#registry.all()) if (queue.inFlight > 0) return true;
    return false;
  }

  async #saveOften(): Promise<void> {
    while (!this.#signal.aborted) {
      await delay(saveIntervalMs, this.#signal);
      if (this.#signal.aborted) return;
      this.#saving = this.#records.save(this.#registry.all());
      await abortable(this.#signal, () => this.#saving).catch((error: unknown) => {
        if (!this.#signal.aborted) throw error;
      });
    }
  }

  /** The position up to which the log was followed. */
  get #followed(): number {
    return Math.max(this.#handled, this.#following?.position ?? 0);
  }

  #follow(): Promise<void> {
    this.#following = this.#options.tail.follow({
      name: 'The delivery of webhooks',
      types: listedTypes,
      after: this.#handled,
      handle: (batch) => {
        for (const event of batch.events) this.#handle(event);
      },
      onError: (error) => {
        throw error;
      },
      signal: this.#signal,
    });
    return this.#following.ended;
  }

  #handle(event: RecordedEvent): void {
    try {
      if (this.#registry.size > 0) this.#distribute(event);
      this.#handled = event.position;
      if (ownTypes.has(event.type)) this.#followEndpoint(event as unknown as EndpointEvent);
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      this.#handled = event.position;
      const { position, type } = event;
      this.#options.log.error(
        { position, type, error: errorText(error) },
        'An event that cannot be read is sent to no webhook',
      );
    }
  }

  #distribute({ position, stream, revision, type, data, metadata }: RecordedEvent): void {
    const listed = historyOfType(type);
    if (listed === null) return;
    const { kind, id: resource } = listed.resource(data, streamKeyOf(stream));
    for (const endpoint of this.#registry.receiversOf(metadata)) {
      const { record } = endpoint.facts;
      if (!takesType(record, type) || !isShownTo(audienceOf(record), metadata, kind)) continue;
      // `#change` sends this event as a test, before all other messages.
      if (type === 'WebhookTestRequested' && resource === endpoint.id) continue;
      const message = { position, stream, revision, type };
      if (endpoint.queue.isLive) endpoint.queue.offer(message);
      else this.#feeder.hold(endpoint, message);
    }
  }

  /** Changes its facts and its queue. */
  #followEndpoint(event: EndpointEvent): void {
    const endpoint = this.#registry.get(event.data.id);
    if (endpoint === undefined) {
      if (event.type === 'WebhookEndpointCreated') this.#addCreated(event);
      return;
    }
    const facts = viewAfter(endpoint.facts, event);
    if (facts === null) {
      this.#remove(endpoint);
      return;
    }
    const isNewer = facts !== endpoint.facts;
    endpoint.facts = facts;
    this.#change(endpoint, event, isNewer);
    if (endpoint.queue.hasRoom) this.#feeder.want(endpoint);
  }

  /** @param isNewer whether the event is newer than the facts were */
  #change({ queue }: DeliveredEndpoint, event: EndpointEvent, isNewer: boolean): void {
    const { position, stream, revision, type } = event;
    if (isNewer && type === 'WebhookEndpointEnabled') queue.enable();
    if (isNewer && type === 'WebhookEndpointDisabled') queue.disable();
    if (type === 'WebhookTestRequested') queue.test({ position, stream, revision, type });
    if (type === 'WebhookReplayRequested') queue.replay(event.data.after, position);
  }

  #addCreated(event: EndpointEvent): void {
    const facts = viewAfter(null, event);
    if (facts === null) return;
    const state = newDeliveryState(event.position);
    const endpoint = this.#add({ id: event.data.id, facts, state });
    this.#records.changed(endpoint);
    this.#start(endpoint);
  }

  #add({ id, facts, state }: EndpointAtStart): DeliveredEndpoint {
    const { disable } = this.#options;
    const endpoint: DeliveredEndpoint = {
      id,
      facts,
      queue: new EndpointQueue<DeliveryTry>({
        state,
        isEnabled: facts.record.status === 'enabled',
        followed: () => this.#followed,
        deliver: (message) => this.#deliver(endpoint, message),
        onTried: (message, attempt, made, outcome) => this.#records.tried(id, message, attempt, made, outcome),
        onChange: () => this.#records.changed(endpoint),
        onRoom: () => this.#feeder.want(endpoint),
        onDisabled: (reason) => void disable(id, reason, this.#signal),
      }),
    };
    this.#registry.add(endpoint);
    return endpoint;
  }

  async #deliver(endpoint: DeliveredEndpoint, message: OpenMessage): Promise<DeliveryTry> {
    const { id } = endpoint;
    let usedUrl: string | null = null;
    const current = () => {
      const { record, secrets } = endpoint.facts;
      const isWanted = this.#registry.get(id) === endpoint && (endpoint.queue.isEnabled || message.isTest);
      if (!isWanted || !this.#options.isHeld()) return null;
      usedUrl = record.url;
      return { url: record.url, secrets };
    };
    const target = { id, owner: endpointOwner(endpoint.facts.record), current };
    const tried = await this.#options.delivery.deliver(target, message, this.#abortingTries.signal);
    // A request of the receiver at the old URL does not apply to the receiver at the new one.
    return usedUrl === null || usedUrl === endpoint.facts.record.url ? tried : { ...tried, receiverRequest: null };
  }

  #start(endpoint: DeliveredEndpoint): void {
    endpoint.queue.passTo(endpoint.queue.offeredUpTo);
    endpoint.queue.start();
  }

  #remove(endpoint: DeliveredEndpoint): void {
    endpoint.queue.stop();
    this.#registry.remove(endpoint);
    this.#records.removed(endpoint);
  }
}
