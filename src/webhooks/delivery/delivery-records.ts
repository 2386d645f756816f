import type { DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import type { LogTrail } from '#event-store/log-trail.ts';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { DeliveryLog, LoggedDelivery } from '#webhooks/delivery-log.ts';
import type { Message } from '#webhooks/state/delivery-state.ts';
import type { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';
import type { DeliveredEndpoint } from './endpoint-registry.ts';
import type { MadeTry } from './message-delivery.ts';
import type { CountTry } from './webhook-metrics.ts';

export interface DeliveryRecordsOptions {
  readonly states: DeliveryStateStore;
  readonly logIdentity: string;
  readonly deliveries: DeliveryLog;
  readonly countTry: CountTry;
  readonly followed: () => number;
  readonly trail: Pick<LogTrail, 'read'>;
  readonly log: Logger;
}

/** While the store is unavailable, further tries are not listed. */
const maxUnlisted = 20_000;
/** Maximum number of tries that are stored together, so that neither the event loop nor other writes wait long. */
const maxTriesTogether = 1_000;
/** How often the state of an idle live endpoint is stored. Its position moves with the log. */
const idleSaveMs = 60_000;

/** Collects the changed states of endpoints and the tries, and stores them together, about once a second. */
export class DeliveryRecords {
  readonly #options: DeliveryRecordsOptions;
  readonly #changed = new Set<DeliveredEndpoint>();
  readonly #removed = new Set<string>();
  readonly #savedAt = new Map<DeliveredEndpoint, number>();
  readonly #tries: LoggedDelivery[] = [];
  #unlisted = 0;
  readonly #outage: OutageLog;

  constructor(options: DeliveryRecordsOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log, 'The store of webhook deliveries');
  }

  /** Notes that the endpoint's state differs from the stored one. */
  changed(endpoint: DeliveredEndpoint): void {
    this.#changed.add(endpoint);
  }

  /** The next save removes its state. */
  removed(endpoint: DeliveredEndpoint): void {
    this.#changed.delete(endpoint);
    this.#savedAt.delete(endpoint);
    this.#removed.add(endpoint.id);
  }

  tried(endpointId: string, message: Message, attempt: number, made: MadeTry, outcome: DeliveryOutcome): void {
    this.#options.countTry(outcome, made.error);
    if (this.#tries.length >= maxUnlisted) {
      this.#unlisted += 1;
      return;
    }
    const { eventId: messageId, status, error, durationMs } = made;
    const { type, position } = message;
    const time = new Date(clock.time()).toISOString();
    const listed = { messageId, type, position, attempt, outcome, status, error, durationMs, time };
    this.#tries.push({ endpointId, id: chance.randomUuid(), ...listed });
  }

  /** @throws UnavailableError; FencedError */
  async begin(endpoints: Iterable<DeliveredEndpoint>): Promise<void> {
    for (const endpoint of endpoints) {
      this.#changed.add(endpoint);
      this.#savedAt.set(endpoint, 0);
    }
    await this.#write([...this.#changed]);
  }

  /** @throws FencedError */
  async end(endpoints: Iterable<DeliveredEndpoint>): Promise<void> {
    for (const endpoint of endpoints) this.#changed.add(endpoint);
    await this.save([]);
  }

  /** If the store is unavailable, the next call stores them. @throws FencedError */
  async save(endpoints: Iterable<DeliveredEndpoint>): Promise<void> {
    try {
      await this.#saveStates(endpoints);
      await this.#saveTries();
      this.#outage.succeeded();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      this.#outage.failed(error);
    }
  }

  async #saveStates(endpoints: Iterable<DeliveredEndpoint>): Promise<void> {
    const at = clock.time();
    for (const endpoint of endpoints) {
      if (endpoint.queue.isLive && at - this.#savedTime(endpoint, at) >= idleSaveMs) this.#changed.add(endpoint);
    }
    if (this.#changed.size > 0) await this.#write([...this.#changed]);
    const removed = [...this.#removed];
    if (removed.length > 0) await this.#options.states.remove(removed);
    for (const id of removed) this.#removed.delete(id);
  }

  async #write(saved: ReadonlyArray<DeliveredEndpoint>): Promise<void> {
    const { states, logIdentity, followed, trail } = this.#options;
    this.#changed.clear();
    const changes = new Map(saved.map(({ id, queue }) => [id, queue.takeChanges()]));
    try {
      await states.write(logIdentity, changes, followed(), trail.read);
    } catch (error) {
      for (const endpoint of saved) {
        const unsaved = changes.get(endpoint.id);
        if (unsaved !== undefined) endpoint.queue.storeAgain(unsaved);
        this.#changed.add(endpoint);
      }
      throw error;
    }
    const at = clock.time();
    for (const endpoint of saved) this.#savedAt.set(endpoint, this.#savedAt.get(endpoint) === 0 ? spread(at) : at);
  }

  #savedTime(endpoint: DeliveredEndpoint, at: number): number {
    const savedAt = this.#savedAt.get(endpoint) ?? at;
    this.#savedAt.set(endpoint, savedAt);
    return savedAt;
  }

  async #saveTries(): Promise<void> {
    const { deliveries, log } = this.#options;
    for (let left = this.#tries.length; left > 0; left -= maxTriesTogether) {
      const tries = this.#tries.slice(0, Math.min(left, maxTriesTogether));
      await deliveries.add(tries);
      this.#tries.splice(0, tries.length);
    }
    if (this.#unlisted > 0) log.warn({ tries: this.#unlisted }, 'Tries to deliver webhooks are not listed');
    this.#unlisted = 0;
  }
}

/** Moves a first save back at random. Otherwise endpoints that began together are always stored together. */
function spread(at: number): number {
  return at - Math.floor(chance.random() * idleSaveMs);
}
