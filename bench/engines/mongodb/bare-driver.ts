import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { type AnyBulkWriteOperation, type Collection, Long, MongoClient } from 'mongodb';
import { newVersion } from '#bench/engines/service/flow-requests.ts';

/** The read models whose documents a request makes and changes. */
export interface ReadModelWrites {
  readonly made: number;
  readonly changed: number;
}

interface BareDocument {
  readonly _id: string;
  readonly state: { readonly position: Long; readonly order: Long; readonly flow: string; readonly body: string };
}

/** The characters of a document. */
const bodyLength = 1_000;
const body = 'x'.repeat(bodyLength);
const longestPage = 100;
/** More than any request makes or changes. */
const readModels = 8;

/**
 * The bare clients of EventStoreDB and MongoDB, doing the least that a request needs: reads by the same filters, an
 * append, one bulk write for each read model side by side, and then one update of a record.
 */
export class BareDriver {
  readonly #events: EventStoreDBClient;
  readonly #client: MongoClient;
  readonly #flows: number;
  #position = 0;

  private constructor(events: EventStoreDBClient, client: MongoClient, flows: number) {
    this.#events = events;
    this.#client = client;
    this.#flows = flows;
  }

  /**
   * Fills a new database with as many documents as the service has.
   * @param eventStoreUrl of a server
   * @param url of the database
   */
  static async open(eventStoreUrl: string, url: string, flows: number): Promise<BareDriver> {
    const options = { writeConcern: { w: 'majority', journal: true }, retryWrites: false } as const;
    const client = await new MongoClient(url, options).connect();
    const driver = new BareDriver(EventStoreDBClient.connectionString(eventStoreUrl), client, flows);
    await driver.#fill();
    return driver;
  }

  /** Reads one document. @param number chooses it */
  async readFlow(number: number): Promise<void> {
    await this.#documents(0).findOne({ _id: this.#flow(number) });
  }

  /** Reads one document, and then those that belong to it. */
  async readVersions(number: number): Promise<void> {
    await this.readFlow(number);
    await this.#documents(1)
      .find({ 'state.flow': this.#flow(number), 'state.order': { $gte: Long.ZERO } })
      .sort({ 'state.order': 1, _id: 1 })
      .limit(longestPage)
      .toArray();
  }

  /** Appends one event, and writes one document of each read model. */
  async write(number: number, { made, changed }: ReadModelWrites): Promise<void> {
    const event = jsonEvent({ type: 'SomethingHappened', data: newVersion, metadata: { schemaVersion: 1 } });
    await this.#events.appendToStream(`bench-${randomUUID()}`, event, { expectedRevision: NO_STREAM });
    this.#position += 1;
    const flow = this.#flow(number);
    const writes = Array.from({ length: made + changed }, (_, index) =>
      this.#documents(index).bulkWrite([index < made ? insert(this.#new(flow)) : change(this.#new(flow), flow)], {
        ordered: false,
      }),
    );
    await Promise.all(writes);
    await this.#client
      .db()
      .collection<{ _id: string; position: Long }>('records')
      .updateOne({ _id: 'positions' }, { $max: { position: Long.fromNumber(this.#position) } }, { upsert: true });
  }

  async close(): Promise<void> {
    await Promise.all([this.#events.dispose(), this.#client.close()]);
  }

  async #fill(): Promise<void> {
    for (let index = 0; index < readModels; index += 1) {
      const documents = this.#documents(index);
      await documents.createIndex({ 'state.order': 1, _id: 1 });
      await documents.createIndex({ 'state.flow': 1, 'state.order': 1, _id: 1 });
      await documents.insertMany(
        Array.from({ length: this.#flows }, (_, number) => ({
          ...this.#new(this.#flow(number)),
          _id: this.#flow(number),
        })),
      );
    }
  }

  #documents(index: number): Collection<BareDocument> {
    return this.#client.db().collection(`documents.bare${index}`);
  }

  #flow(number: number): string {
    return `flow${number % this.#flows}`;
  }

  #new(flow: string): BareDocument {
    const position = Long.fromNumber(this.#position);
    return { _id: randomUUID(), state: { position, order: position, flow, body } };
  }
}

function insert(document: BareDocument): AnyBulkWriteOperation<BareDocument> {
  return { insertOne: { document } };
}

function change({ state }: BareDocument, _id: string): AnyBulkWriteOperation<BareDocument> {
  return { updateOne: { filter: { _id }, update: { $max: { state } }, upsert: true } };
}
