import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { defaultStreamPrefix } from '#app/store-config.ts';
import { upcasters } from '#domain/upcasters.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { upcastWith } from '#event-store/recorded-event.ts';
import { processesRecordKey } from '#positions/position-poll.ts';
import type { PhoneNumberDocument } from '#projections/phone-numbers.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import type { SharedStores } from '#test/support/service/engines.ts';
import { startEventsTool, toolExit } from '#test/support/service/events-tool.ts';
import { openMongoDbReadStore } from '#test/support/service/mongodb-read-store.ts';
import { poll } from '#test/support/service/service-process.ts';
import { type Documents, everyDocument } from './stores.ts';

const settleTimeoutMs = 120_000;
const settlePollMs = 100;

/**
 * Waits until processes and read models have settled. Asserts that each acknowledged command is stored once, that
 * processes have reacted once to each event, and that the read models equal a rebuild from zero.
 * @param acknowledged the request ids of acknowledged commands with an `Idempotency-Key`
 */
export async function expectConsistent(stores: SharedStores, acknowledged: ReadonlyArray<string>): Promise<void> {
  const log = await settledLog(stores);
  expectEachOnce(log, acknowledged);
  expectProcessesOnce(log);
}

/** Asserts that each acknowledged command is in the log once. @param acknowledged their request ids */
export async function expectStoredOnce(eventStoreUrl: string, acknowledged: ReadonlyArray<string>): Promise<void> {
  expectEachOnce(await wholeLog(eventStoreUrl), acknowledged);
}

async function settledLog({ eventStoreUrl, readStoreUrl }: SharedStores): Promise<ReadonlyArray<RecordedEvent>> {
  const documents = openMongoDbReadStore({ url: readStoreUrl, timeoutMs: patientTimeoutMs });
  try {
    let log: ReadonlyArray<RecordedEvent> = [];
    const settled = await poll(async () => {
      log = await wholeLog(eventStoreUrl);
      const fromZero = await everyDocument(new ReadModel(log));
      const isSettled =
        everythingIsDetached(fromZero) &&
        isDeepStrictEqual(await everyDocument(documents), fromZero) &&
        (await wholeLog(eventStoreUrl)).length === log.length;
      // What it waits for needs the processor too.
      if (!isSettled) await sleep(settlePollMs);
      return isSettled;
    }, settleTimeoutMs);
    if (settled === null) assert.deepEqual(await everyDocument(documents), await everyDocument(new ReadModel(log)));
    if (settled === null) assert.fail(`${await describeUnsettled(log)}\n${await storedProcesses(readStoreUrl)}`);
    return log;
  } finally {
    await documents.close();
  }
}

/** Reads all events of an EventStoreDB. */
async function wholeLog(url: string): Promise<ReadonlyArray<RecordedEvent>> {
  const store = openEventStoreDbEventStore({
    url,
    streamPrefix: defaultStreamPrefix,
    upcast: upcastWith(upcasters),
    log: pino({ level: 'silent' }),
  });
  const tail = tailOf(store);
  try {
    const log: RecordedEvent[] = [];
    for await (const { events } of tail.past({ after: 0, signal: new AbortController().signal })) log.push(...events);
    return log;
  } finally {
    await tail.close();
    await store.close();
  }
}

/** Asserts with `npm run events -- verify` that every hash chain is intact. */
export async function expectVerified({ eventStoreUrl }: Pick<SharedStores, 'eventStoreUrl'>): Promise<void> {
  const { code, stderr } = await toolExit(startEventsTool(['verify', '--store', eventStoreUrl], {}));
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
    assert.equal(new Set(events.map(({ stream }) => stream)).size, 1, `${requestId} was stored in several streams`);
    expectDifferent(events.map(({ type }) => `${type} of request ${requestId}`));
  }
}

/** Another node takes a batch again, and a batch reports its lines in steps. */
const repeatable = new Set(['BatchTaken', 'BatchLinesCompleted']);

/** For each causing event, a process appends at most one event of a type to a stream. */
function expectProcessesOnce(log: ReadonlyArray<RecordedEvent>): void {
  const ids = new Set(log.map(({ id }) => id));
  const caused = log.filter(({ type, metadata }) => !repeatable.has(type) && ids.has(metadata.$causationId));
  assert.ok(caused.length > 0, 'processes have appended nothing');
  expectDifferent(
    caused.map(({ stream, type, metadata }) => `${type} in ${stream} because of ${metadata.$causationId}`),
  );
}

function expectDifferent(texts: ReadonlyArray<string>): void {
  const twice = texts.filter((text, index) => texts.indexOf(text) !== index);
  assert.deepEqual(twice, [], 'some effects were stored twice');
}

function everythingIsDetached(model: Documents): boolean {
  return attachedNumbers(model).length === 0;
}

/** The phone numbers that refer to deleted flows. */
function attachedNumbers(model: Documents): ReadonlyArray<StoredDocument<PhoneNumberDocument>> {
  const flows = new Set(model.flows?.map(({ id }) => id));
  const numbers = (model['phone-numbers'] ?? []) as ReadonlyArray<StoredDocument<PhoneNumberDocument>>;
  return numbers.filter(({ value: { flowId } }) => flowId !== null && !flows.has(flowId));
}

/** The stored checkpoints of the processes: how far each is, and what it waits for or has stopped at. */
async function storedProcesses(readStoreUrl: string): Promise<string> {
  const records = openMongoDbRecordStore({ url: readStoreUrl, timeoutMs: patientTimeoutMs });
  try {
    const { kind, key } = processesRecordKey;
    return `processes: ${JSON.stringify(await records.get(kind, key))}`;
  } finally {
    await records.close();
  }
}

/** Says which phone numbers still refer to deleted flows, with the events of both; else that the log still grows. */
async function describeUnsettled(log: ReadonlyArray<RecordedEvent>): Promise<string> {
  const attached = attachedNumbers(await everyDocument(new ReadModel(log)));
  const lines = attached.map(({ id, value: { flowId } }) => {
    const streams = new Set([`phoneNumber-${id}`, `flow-${flowId}`]);
    const events = log.filter(({ stream }) => streams.has(stream));
    return `${id} refers to ${flowId}: ${events.map(({ position, type }) => `${position} ${type}`).join(', ')}`;
  });
  const last = log.slice(-5).map(({ position, type }) => `${position} ${type}`);
  if (lines.length === 0) return `The log still grows: ${last.join(', ')}`;
  return `Phone numbers still refer to deleted flows; the log ends with ${last.join(', ')}\n${lines.join('\n')}`;
}
