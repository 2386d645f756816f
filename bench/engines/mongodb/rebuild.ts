import { type Collection, type Document, type IndexDescription, MongoClient } from 'mongodb';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { fillLog } from '#bench/engines/fill-log.ts';
import { EngineService, newPrefix } from '#bench/engines/service/engine-service.ts';
import { format, median, print } from '#bench/measure.ts';
import { startMongoDb } from '#test/support/service/mongodb-server.ts';

const wholeEvents = 200_000;
const quickEvents = 5_000;
const rounds = 3;
const readyMs = 2 * 60 * 60 * 1_000;
/** The documents of one insert, and how many inserts run at the same time. */
const insertedTogether = 1_000;
const insertsAtOnce = 4;
const maxRatio = 0.9;

/** A log on an EventStoreDB, in which no process has anything to react to. */
interface FilledLog {
  readonly url: string;
  readonly prefix: string;
}

/**
 * Measures how long a node takes from its start on an empty MongoDB until it has made all read models of a log.
 * Compared with the bare driver, which inserts the same documents into collections with the same indexes.
 * @param url of an EventStoreDB
 */
export async function rebuild(url: string, isQuick: boolean): Promise<void> {
  const log = await filledLog(url, isQuick);
  const mongoDb = await startMongoDb();
  try {
    const own: number[] = [];
    const bare: number[] = [];
    let documents = 0;
    for (let round = 0; round < (isQuick ? 1 : rounds); round += 1) {
      const readStoreUrl = mongoDb.newUrl();
      own.push(await fillSeconds(log, readStoreUrl, here));
      const copied = await copyDocuments(readStoreUrl, mongoDb.newUrl());
      bare.push(copied.seconds);
      documents = copied.documents;
    }
    const ratio = median(own) / median(bare);
    print(
      `All read models from ${format(eventsOf(isQuick))} events: ${format(median(own))} s; the bare driver inserts their ${format(documents)} documents in ${format(median(bare))} s (${format(ratio)} ×)`,
    );
  } finally {
    await mongoDb.dispose();
  }
}

/** Returns the same time as a figure of one version. */
export async function rebuildFigures(
  url: string,
  isQuick: boolean,
  checkout: Checkout,
): Promise<ReadonlyArray<Figure>> {
  const log = await filledLog(url, isQuick);
  const mongoDb = await startMongoDb();
  try {
    const value = await fillSeconds(log, mongoDb.newUrl(), checkout);
    return [{ what: `all read models from ${format(eventsOf(isQuick))} events`, value, unit: ' s', maxRatio }];
  } finally {
    await mongoDb.dispose();
  }
}

function eventsOf(isQuick: boolean): number {
  return isQuick ? quickEvents : wholeEvents;
}

async function filledLog(url: string, isQuick: boolean): Promise<FilledLog> {
  const prefix = newPrefix();
  await fillLog(url, prefix, eventsOf(isQuick));
  return { url, prefix };
}

async function fillSeconds(log: FilledLog, readStoreUrl: string, checkout: Checkout): Promise<number> {
  const environment = { READ_STORE_URL: readStoreUrl, LOG_LEVEL: 'error' };
  const service = await EngineService.start(log, { environment, checkout, readyMs });
  await service.stop();
  return service.server.startMs / 1_000;
}

/**
 * Copies all documents of read models by the bare driver.
 * @returns how many there are, and how long their inserts take, without reading them
 */
async function copyDocuments(fromUrl: string, toUrl: string): Promise<{ documents: number; seconds: number }> {
  const [from, to] = [new MongoClient(fromUrl), new MongoClient(toUrl)];
  let documents = 0;
  let seconds = 0;
  try {
    for (const { name } of await from.db().listCollections({}, { nameOnly: true }).toArray()) {
      if (!name.startsWith('documents')) continue;
      const source = from.db().collection(name);
      const began = performance.now();
      const target = await sameIndexes(to.db().collection(name), await source.indexes());
      seconds += (performance.now() - began) / 1_000;
      for await (const some of parts(source, insertedTogether * insertsAtOnce)) {
        seconds += await insertSeconds(target, some);
        documents += some.length;
      }
    }
    return { documents, seconds };
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}

async function sameIndexes(target: Collection, indexes: ReadonlyArray<IndexDescription>): Promise<Collection> {
  for (const { key } of indexes) if (!('_id' in key && Object.keys(key).length === 1)) await target.createIndex(key);
  return target;
}

async function* parts(source: Collection, size: number): AsyncGenerator<ReadonlyArray<Document>> {
  let part: Document[] = [];
  for await (const document of source.find({}, { batchSize: insertedTogether, promoteLongs: false })) {
    part.push(document);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

async function insertSeconds(target: Collection, documents: ReadonlyArray<Document>): Promise<number> {
  const began = performance.now();
  const inserts: Promise<unknown>[] = [];
  for (let start = 0; start < documents.length; start += insertedTogether)
    inserts.push(target.insertMany(documents.slice(start, start + insertedTogether), { ordered: false }));
  await Promise.all(inserts);
  return (performance.now() - began) / 1_000;
}
