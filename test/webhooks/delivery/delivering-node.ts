import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { flow } from '#domain/flow/flow.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { WebhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { RecordStore } from '#records/record-store.ts';
import { flowCreated } from '#test/support/events/flow-events.ts';
import { organizationCreated, origin } from '#test/support/events/organization-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { webhookEndpointCreated } from '#test/support/events/webhook-events.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import type { DeliveryTry } from '#webhooks/delivery/message-delivery.ts';
import { WebhookRunner } from '#webhooks/delivery/webhook-runner.ts';
import type { DeliveryState, Message } from '#webhooks/state/delivery-state.ts';
import { DeliveryStateStore } from '#webhooks/state/delivery-state-store.ts';

const delivered: DeliveryTry = {
  kind: 'delivered',
  eventId: 'event',
  status: 204,
  error: null,
  durationMs: 1,
};

/** One node that delivers the events of a log in memory, with receivers that the test scripts. */
export class DeliveringNode {
  readonly store: AppendableEventStore;
  readonly writer: StreamWriter;
  /** The tried messages, in the order of the tries. */
  readonly tried: Message[] = [];
  readonly logged: Array<{ readonly level: string; readonly fields: object; readonly message: string }> = [];
  /** Decides the outcome of a try. */
  receive: (message: Message) => DeliveryTry = () => delivered;
  /** Holds a try before it ends. */
  hold: () => Promise<void> = async () => undefined;
  /** Removes old tries. @returns whether there are more */
  removeOldTries: () => Promise<boolean> = async () => false;
  /** The outcomes of the tries that were reported to the metrics. */
  readonly counted: string[] = [];
  /** Whether the read models are at the end of the log. Rejects while they cannot be read. */
  waitForPosition: () => Promise<boolean> = async () => true;
  readonly #endAtStart = Promise.withResolvers<number | null>();
  readonly runner: WebhookRunner;
  readonly #records: RecordStore;
  #token = 1;
  #ending = new AbortController();
  #running: Promise<void> | undefined;

  /** @param records where it stores the states of deliveries */
  constructor(records: RecordStore = new InMemoryRecordStore(), store = new AppendableEventStore()) {
    this.store = store;
    this.writer = new StreamWriter({ store });
    this.#records = records;
    const documents = new ReadModel(this.store.log);
    const log = (level: string) => (fields: object, message: string) =>
      void this.logged.push({ level, fields, message });
    this.runner = new WebhookRunner({
      store: this.store,
      tail: this.store.tail,
      endAtStart: this.#endAtStart.promise,
      writer: this.writer,
      documents,
      positions: { passed: async () => ((await this.waitForPosition()) ? 'reached' : 'timeout') },
      deliveries: {
        add: async () => undefined,
        page: async () => ({ deliveries: [], next: null }),
        removeBefore: () => this.removeOldTries(),
        close: async () => undefined,
      },
      countTry: (outcome) => this.counted.push(outcome),
      statesFor: (token) => new DeliveryStateStore(this.#records, token),
      delivery: {
        deliver: async (_, message) => {
          this.tried.push(message);
          await this.hold();
          return this.receive(message);
        },
      },
      log: { info: log('info'), warn: log('warn'), error: log('error') },
    });
  }

  /** Starts it. @param endAtStart the end of the log when the node started; default: the present end */
  async start(endAtStart?: number): Promise<void> {
    this.#endAtStart.resolve(endAtStart ?? (await this.store.lastPosition()));
    this.#run();
  }

  /** Starts it after its end, under a newer lease. */
  startAgain(): void {
    this.#ending = new AbortController();
    this.#token += 1;
    this.#run();
  }

  #run(): void {
    const { signal } = this.#ending;
    const term = { token: this.#token, signal, isHeld: () => !signal.aborted, guard: <Port>(port: Port) => port };
    this.#running = this.runner.run(term);
  }

  /** Ends the node. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  /** The stored state of the example endpoint. */
  state(): Promise<DeliveryState | null> {
    return new DeliveryStateStore(this.#records).peek(ids.webhookEndpoint);
  }

  /** Appends the first event of the log. */
  begin(): Promise<number> {
    return organizationCreated(this.writer, ids.partner);
  }

  /** Appends the creation of the example endpoint. */
  async createEndpoint(): Promise<void> {
    const decide = () => E.right({ events: [webhookEndpointCreated()], tenant: tenants.project });
    assert.ok(E.isRight(await this.writer.write({ entity: webhookEndpoint, id: ids.webhookEndpoint, origin, decide })));
  }

  /** Appends an event of the example endpoint. */
  async changeEndpoint<Type extends keyof WebhookEndpointEvents>(
    type: Type,
    data: WebhookEndpointEvents[Type],
  ): Promise<void> {
    const decide = () => E.right({ events: [newEvent(type, data)] as never, tenant: null });
    assert.ok(E.isRight(await this.writer.write({ entity: webhookEndpoint, id: ids.webhookEndpoint, origin, decide })));
  }

  /** Appends the creation of a flow that the endpoint receives. @returns the event's position */
  async createFlow(id: string = ids.flow): Promise<number> {
    const decide = () => E.right({ events: [flowCreated({ id })], tenant: tenants.project });
    const written = await this.writer.write({ entity: flow, id, origin, decide });
    assert.ok(E.isRight(written));
    return written.right.events[0]?.position ?? assert.fail();
  }
}
