import { type Collection, Long, MongoClient } from 'mongodb';
import { format, interleaved, type Result } from '#bench/measure.ts';
import { openMongoDbReadStoreWriter } from '#read-store/mongodb/mongodb-read-store-writer.ts';
import type { DocumentWrite, ReadStoreWriter } from '#read-store/read-store.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { startOwnMongoDb } from '#test/support/service/mongodb-server.ts';

const rounds = 5;
const made = 5000;
const madeTogether = 1000;
const putAgain = 200;
const putAgainTogether = 200;
const text = 'x'.repeat(450);

interface BareDocument {
  readonly _id: string;
  readonly position: Long;
  readonly order: Long;
  readonly group: string;
  readonly body: string;
}

/**
 * Documents of 500 bytes stored through the read-store port on MongoDB, with their checkpoint, against the driver's
 * bare `bulkWrite` of the same documents into a collection with the same indexes.
 * @throws Error if MongoDB does not start
 */
export async function projectionWrites(): Promise<ReadonlyArray<Result>> {
  const mongoDb = await startOwnMongoDb();
  const url = mongoDb.newUrl();
  const client = new MongoClient(url);
  const records = openMongoDbRecordStore({ url });
  const writer = openMongoDbReadStoreWriter({ url, records });
  try {
    const contestants = [
      { name: 'bare made', round: async () => makeBare(await bareCollection(client)) },
      { name: 'port made', round: () => makeThroughPort(writer) },
      { name: 'bare put again', round: async () => putAgainBare(await bareCollection(client)) },
      { name: 'port put again', round: () => putAgainThroughPort(writer) },
    ];
    const figures = await interleaved(contestants, rounds);
    const share = (work: string) => (figures.get(`port ${work}`) ?? 0) / (figures.get(`bare ${work}`) ?? Number.NaN);
    const bounds = { unit: ' × bare bulkWrite', required: 0.5, aim: 0.8 };
    return [
      { what: `documents made (${format(figures.get('port made') ?? 0)}/s)`, figure: share('made'), ...bounds },
      {
        what: `documents put again (${format(figures.get('port put again') ?? 0)}/s)`,
        figure: share('put again'),
        ...bounds,
      },
    ];
  } finally {
    await writer.close();
    await records.close();
    await client.close();
    await mongoDb.dispose();
  }
}

async function makeBare(collection: Collection<BareDocument>): Promise<number> {
  return perSecond(made, async () => {
    for (let from = 0; from < made; from += madeTogether) {
      const operations = puts(from, madeTogether, from).map((write) => ({
        insertOne: { document: bareDocument(write) },
      }));
      await collection.bulkWrite(operations, { ordered: false });
    }
  });
}

async function makeThroughPort(writer: ReadStoreWriter): Promise<number> {
  const generation = await begin(writer);
  return perSecond(made, async () => {
    for (let from = 0; from < made; from += madeTogether) {
      const writes = puts(from, madeTogether, from);
      await writer.commit([{ generation, writes, checkpoint: from + madeTogether }]);
    }
  });
}

async function putAgainBare(collection: Collection<BareDocument>): Promise<number> {
  await collection.insertMany(puts(0, putAgain, 0).map(bareDocument));
  return perSecond(putAgain, async () => {
    for (let from = 0; from < putAgain; from += putAgainTogether) {
      const operations = puts(from, putAgainTogether, putAgain + from).map((write) => ({
        replaceOne: { filter: { _id: write.id }, replacement: bareDocument(write), upsert: true },
      }));
      await collection.bulkWrite(operations, { ordered: false });
    }
  });
}

async function putAgainThroughPort(writer: ReadStoreWriter): Promise<number> {
  const generation = await begin(writer);
  await writer.commit([{ generation, writes: puts(0, putAgain, 0), checkpoint: putAgain }]);
  return perSecond(putAgain, () =>
    writer.commit([{ generation, writes: puts(0, putAgain, putAgain), checkpoint: 2 * putAgain }]),
  );
}

type Put = DocumentWrite & { readonly kind: 'put' };

/** Returns writes of documents by successive events. @param after the position before the first event */
function puts(from: number, count: number, after: number): ReadonlyArray<Put> {
  return Array.from({ length: count }, (_, index) => {
    const value = { group: `g${(from + index) % 100}`, text };
    const position = after + index + 1;
    return {
      kind: 'put',
      id: `d${from + index}`,
      order: from + index + 1,
      position,
      value,
      body: JSON.stringify(value),
    };
  });
}

function bareDocument({ id, position, order, value, body }: Put): BareDocument {
  const group = 'group' in value ? String(value.group) : '';
  return { _id: id, position: Long.fromNumber(position), order: Long.fromNumber(order), group, body };
}

/** Creates a collection with the same indexes as the port. */
async function bareCollection(client: MongoClient): Promise<Collection<BareDocument>> {
  const collection = client.db().collection<BareDocument>(`bare${performance.now()}`.replace('.', '_'));
  await collection.createIndex({ order: 1, _id: 1 });
  await collection.createIndex({ group: 1, order: 1, _id: 1 });
  return collection;
}

async function begin(writer: ReadStoreWriter) {
  const name = `benchmark${performance.now()}`.replace('.', '_');
  return writer.begin({ name, version: 1, indexes: [['group']] }, 0);
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (count / (performance.now() - started)) * 1000;
}
