import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { upcasters } from '#domain/shared/upcasters.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { upcastWith } from '#event-store/upcasting.ts';
import type { PhoneNumberDocument } from '#projections/phone-numbers.ts';
import { openMongoDbReadStore } from '#read-store/mongodb/mongodb-read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import type { SharedStores } from '#test/support/service/engines.ts';
import { startEventsTool, toolEnded } from '#test/support/service/events-tool.ts';
import { until } from '#test/support/service/service-process.ts';
import { type Documents, everyDocument } from './stores.ts';

const settleLimitMilliseconds = 120_000;

/**
 * Waits until processes and read models have come to rest, and holds what is stored against what was acknowledged: each
 * command stands once, processes have done everything once, and read models are those of a rebuild from zero.
 * @param acknowledged the request ids of commands that came with an `Idempotency-Key`
 */
export async function expectSound(stores: SharedStores, acknowledged: ReadonlyArray<string>): Promise<void> {
  const log = await settledLog(stores);
  expectEachOnce(log, acknowledged);
  expectProcessesOnce(log);
}

async function settledLog({ eventStoreUrl, readStoreUrl }: SharedStores): Promise<ReadonlyArray<RecordedEvent>> {
  const documents = openMongoDbReadStore({ url: readStoreUrl });
  try {
    let log: ReadonlyArray<RecordedEvent> = [];
    const settled = await until(async () => {
      log = await wholeLog(eventStoreUrl);
      const fromZero = await everyDocument(new ReadModel(log));
      return (
        everythingIsDetached(fromZero) &&
        isDeepStrictEqual(await everyDocument(documents), fromZero) &&
        (await wholeLog(eventStoreUrl)).length === log.length
      );
    }, settleLimitMilliseconds);
    if (settled === null) assert.deepEqual(await everyDocument(documents), await everyDocument(new ReadModel(log)));
    assert.ok(settled, 'numbers still point at flows that are deleted');
    return log;
  } finally {
    await documents.close();
  }
}

/** Every event of an EventStoreDB. */
async function wholeLog(url: string): Promise<ReadonlyArray<RecordedEvent>> {
  const store = openEventStoreDbEventStore({ url, upcast: upcastWith(upcasters), log: pino({ level: 'silent' }) });
  const over = new AbortController();
  try {
    const log: RecordedEvent[] = [];
    for await (const { events, caughtUp } of store.subscribe({ after: 0, signal: over.signal })) {
      log.push(...events);
      if (caughtUp) break;
    }
    return log;
  } finally {
    over.abort();
    await store.close();
  }
}

/** What `npm run events -- verify` says: every chain holds. */
export async function expectVerified({ eventStoreUrl }: SharedStores): Promise<void> {
  const { code, stderr } = await toolEnded(startEventsTool(['verify', '--store', eventStoreUrl], {}));
  assert.equal(code, 0, stderr);
}

function expectEachOnce(log: ReadonlyArray<RecordedEvent>, acknowledged: ReadonlyArray<string>): void {
  const commanded = Map.groupBy(
    log.filter(({ metadata }) => metadata.idempotency !== undefined),
    ({ metadata }) => metadata.requestId,
  );
  const lost = acknowledged.filter((requestId) => !commanded.has(requestId));
  assert.deepEqual(lost, [], `${lost.length} of ${acknowledged.length} acknowledged commands are lost`);
  for (const [requestId, events] of commanded) {
    assert.equal(new Set(events.map(({ stream }) => stream)).size, 1, `${requestId} went to several streams`);
    expectDifferent(events.map(({ type }) => `${type} of request ${requestId}`));
  }
}

/** A process appends one event of a type to a stream for what caused it. */
function expectProcessesOnce(log: ReadonlyArray<RecordedEvent>): void {
  const ids = new Set(log.map(({ id }) => id));
  const caused = log.filter(({ metadata }) => ids.has(metadata.$causationId));
  assert.ok(caused.length > 0, 'processes have done nothing');
  expectDifferent(
    caused.map(({ stream, type, metadata }) => `${type} in ${stream} because of ${metadata.$causationId}`),
  );
}

function expectDifferent(texts: ReadonlyArray<string>): void {
  const twice = texts.filter((text, index) => texts.indexOf(text) !== index);
  assert.deepEqual(twice, [], 'something was done twice');
}

function everythingIsDetached(model: Documents): boolean {
  const flows = new Set(model.flows?.map(({ id }) => id));
  const numbers = (model['phone-numbers'] ?? []) as ReadonlyArray<StoredDocument<PhoneNumberDocument>>;
  return numbers.every(({ value: { flowId } }) => flowId === null || flows.has(flowId));
}
