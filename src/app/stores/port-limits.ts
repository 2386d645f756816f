import type { BlobStore } from '#blob-store/blob-store.ts';
import type { DigestFiles } from '#digests/digest-files.ts';
import type { EventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import type { LogTailOptions } from '#event-store/log-tail.ts';
import type { EventReader } from '#event-store/sqlite/reader.ts';
import type { SqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import type { PositionsWriter } from '#read-store/published-positions.ts';
import type { ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import type { ResponseStore } from '#responses/response-store.ts';
import type { CallLog } from '#usage/call-log/call-log.ts';
import type { DeliveryLog } from '#webhooks/delivery-log.ts';
import { betweenPieces } from './between-pieces.ts';
import { byAdapter, endsAfter, immediate } from './call-limit.ts';
import type { MemberLimits, PortLimits } from './limited.ts';

/**
 * The limits of all calls of all ports, in ms. An adapter has shorter ones (5 s for a command of MongoDB or a read of
 * EventStoreDB, 10 s for a write to a small SQLite file, at most 15 s for a call about leases on a slow store), so these
 * end only what an adapter leaves open. A store that takes a second for each command reaches none of them.
 */
const readMs = 18_000;
/** Time limit of some commands, one after the other. */
const writeMs = 20_000;
/** Time limit of work whose amount is not in its parameters, such as an index of a whole read model. */
const bulkMs = 600_000;
/** Time limit of a close: longer than a store takes to finish what it has accepted. */
const closeMs = 15_000;
/** Time for each document, because FerretDB takes five documents with one command. */
const documentMs = 250;

type LogPages = LogTailOptions['pages'];

const pages: MemberLimits<LogPages> = {
  // A read continues behind the limit, where many events of other applications are before its first one, and the
  // repeated call joins it. A fresh one begins again.
  readPage: ({ isFresh }) => (isFresh === true ? 60_000 : 20_000),
  lastPosition: readMs,
  eventAt: readMs,
  changes: { waitPast: endsAfter(30_000), onStreamRemoved: immediate, onDoubt: immediate },
};

const streamReads = {
  ...pages,
  read: readMs,
  readRaw: 60_000,
  readRawLog: 60_000,
  streamNames: bulkMs,
  close: closeMs,
};

const streams = {
  ...streamReads,
  // 5 s on EventStoreDB, 30 s on SQLite. Both find out behind it what has become of the append.
  append: byAdapter,
  removeStream: bulkMs,
};

export const eventReaderLimits: PortLimits<EventReader> = { name: 'The event store', calls: streamReads };

export const embeddedLogLimits: PortLimits<SqliteEventStore> = {
  name: 'The event store',
  calls: { ...streams, changePort: immediate },
};

export const serverLogLimits: PortLimits<EventStoreDbEventStore> = {
  name: 'The event store',
  // The search for one event may pass by all events of other applications.
  calls: { ...streams, ensureWritable: writeMs, findUnprefixedStream: bulkMs },
};

/** Limits of a log that waits a minute for its server. */
export const patientLogLimits: PortLimits<RawLog> = {
  name: 'The event store',
  calls: { readRawLog: 150_000, lastPosition: 150_000 },
};

export const readStoreLimits: PortLimits<ReadStore> = {
  name: 'The read store',
  calls: { get: readMs, list: readMs, count: readMs, status: readMs, unknownEvents: readMs, close: closeMs },
};

/** A commit that was left is repeated, and the positions of documents guard what both store. */
const commitMs: MemberLimits<ReadStoreWriter>['commit'] = (commits) =>
  25_000 + documentMs * commits.reduce((sum, { writes }) => sum + writes.length, 0);

/**
 * A thread of this process writes the file, one call after the other. All its calls end when it ends, or has answered
 * none for fifteen minutes. A call waits behind others, so its own limit is far above that.
 */
const ofThreadMs = 3_600_000;

export const embeddedWriterLimits: PortLimits<ReadStoreWriter> = {
  name: 'The read store',
  calls: {
    generations: ofThreadMs,
    begin: ofThreadMs,
    read: ofThreadMs,
    commit: ofThreadMs,
    readOfLog: ofThreadMs,
    finish: ofThreadMs,
    publish: ofThreadMs,
    dropOthers: ofThreadMs,
    operatorState: ofThreadMs,
    saveOperatorState: ofThreadMs,
    saveStatus: ofThreadMs,
    close: ofThreadMs,
  },
};

export const sharedWriterLimits: PortLimits<ReadStoreWriter & PositionsWriter> = {
  name: 'The read store',
  calls: {
    generations: 25_000,
    begin: 60_000,
    read: (_, ids) => 25_000 + documentMs * ids.length,
    commit: commitMs,
    readOfLog: readMs,
    finish: bulkMs,
    publish: 25_000,
    dropOthers: bulkMs,
    operatorState: readMs,
    saveOperatorState: writeMs,
    saveStatus: writeMs,
    // A failed command is repeated for 12 s.
    savePositions: 25_000,
    close: closeMs,
  },
};

export const recordLimits: PortLimits<RecordStore> = {
  name: 'The records',
  calls: {
    get: readMs,
    encoded: readMs,
    read: readMs,
    all: readMs,
    page: readMs,
    take: readMs,
    put: (_, entries) => readMs + documentMs * entries.size,
    delete: readMs,
    close: closeMs,
  },
};

export const leaseLimits: PortLimits<LeaseStore> = {
  name: 'The leases',
  calls: { newestOfAll: writeMs, begin: writeMs, renewAll: writeMs, release: writeMs, close: closeMs },
};

export const blobLimits: PortLimits<BlobStore> = {
  name: 'The files',
  calls: {
    put: betweenPieces(40_000),
    get: betweenPieces(30_000),
    size: readMs,
    delete: 30_000,
    list: betweenPieces(30_000),
    close: closeMs,
  },
};

export const subjectKeyLimits: PortLimits<SubjectKeys> = {
  name: 'The keys of personal data',
  calls: { obtain: writeMs, find: readMs, destroy: writeMs, adopt: writeMs, page: readMs, close: closeMs },
};

export const deliveryLogLimits: PortLimits<DeliveryLog> = {
  name: 'The log of deliveries',
  calls: { add: writeMs, page: readMs, removeBefore: writeMs, close: closeMs },
};

export const callLogLimits: PortLimits<CallLog> = {
  name: 'The log of calls',
  calls: {
    add: writeMs,
    ofRequest: readMs,
    page: readMs,
    bytesByProject: writeMs,
    oldest: readMs,
    remove: writeMs,
    removeBefore: writeMs,
    close: closeMs,
  },
};

export const responseLimits: PortLimits<ResponseStore> = {
  name: 'The stored responses',
  calls: {
    add: writeMs,
    finish: writeMs,
    find: readMs,
    outlines: readMs,
    needsOf: readMs,
    file: immediate,
    contents: readMs,
    ofItems: writeMs,
    providersOf: writeMs,
    markDeleted: writeMs,
    removeUnneeded: writeMs,
    projectsToClean: writeMs,
    storedBefore: writeMs,
    oldest: readMs,
    bytesOf: readMs,
    amountOf: readMs,
    hasRoomFor: readMs,
    subjectOf: writeMs,
    beginErasure: writeMs,
    eraseSome: writeMs,
    erasuresBefore: readMs,
    endErasure: writeMs,
    copies: { add: writeMs, count: writeMs, due: readMs, postpone: writeMs, makeDue: writeMs, remove: writeMs },
    close: closeMs,
  },
};

/** The files of digests in a folder, which may be on a network. */
export const digestFileLimits: PortLimits<DigestFiles> = {
  name: 'The folder of digests',
  calls: {
    path: immediate,
    names: 60_000,
    has: immediate,
    readText: 30_000,
    open: betweenPieces(30_000),
    add: betweenPieces(60_000),
    remove: 30_000,
  },
};
