import type { Filter } from 'mongodb';
import { beyond, LogCollection, type LogDocument, newestFirst } from '#mongodb/log-collection.ts';
import type { MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { type CallLog, callOf, callPageOf, type LoggedCall } from './call-log.ts';
import type { CallOutline } from './thinning.ts';

/** The most ids of one command. */
const idsAtOnce = 1_000;

interface CallDocument extends LogDocument {
  readonly project: string;
  readonly request: string;
  readonly key: string;
  readonly model: string;
  readonly outcome: string;
  /** JSON of the record, without the number of calls that it represents. */
  readonly body: string;
  readonly bytes: number;
  readonly callsRepresented: number;
}

/** Opens the log of calls on MongoDB, which all nodes share. */
export function openMongoDbCallLog(options: MongoDbConnectionOptions): CallLog {
  const calls = new LogCollection<CallDocument>(options, 'gatewayCalls', [
    // With the bytes, the sums by project read no document.
    { project: 1, at: 1, _id: 1, bytes: 1 },
    { project: 1, request: 1 },
    { at: 1 },
  ]);
  return {
    add: (added) => calls.insert(added.map(documentOf)),
    ofRequest: async (project, request, limit) => {
      const found = await calls.call((all) => all.find({ project, request }).sort(newestFirst).limit(limit).toArray());
      return found.map(callOf);
    },
    page: async (project, { model, outcome, keyId, from, until }, request) => {
      const { limit, after } = request;
      const range = { ...(from && { $gte: Date.parse(from) }), ...(until && { $lt: Date.parse(until) }) };
      const filter: Filter<CallDocument> = {
        project,
        ...(model && { model }),
        ...(outcome && { outcome }),
        ...(keyId && { key: keyId }),
        ...((from || until) && { at: range }),
        ...(after === null ? {} : beyond('$lt', after)),
      };
      const found = await calls.call((all) =>
        all
          .find(filter)
          .sort(newestFirst)
          .limit(limit + 1)
          .toArray(),
      );
      return callPageOf(
        found.map(({ _id: id, ...stored }) => ({ ...stored, id })),
        request,
      );
    },
    bytesByProject: async () => {
      const sums = await calls.call((all) =>
        all
          .aggregate<{ _id: string; bytes: number }>([
            // The order of the index that has all that is read.
            { $sort: { project: 1, at: 1, _id: 1 } },
            { $group: { _id: '$project', bytes: { $sum: '$bytes' } } },
          ])
          .toArray(),
      );
      return new Map(sums.map(({ _id, bytes }) => [_id, bytes]));
    },
    outlines: async (project, limit, after) => {
      const filter = { project, ...(after === null ? {} : beyond('$gt', after)) };
      const found = await calls.call((all) =>
        all
          .find(filter, { projection: { body: 0 } })
          .sort({ at: 1, _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(outlineOf);
    },
    thin: async (_, { removed, changed }) => {
      const byNumber = Map.groupBy(changed.keys(), (call) => changed.get(call) ?? 1);
      for (const [callsRepresented, some] of byNumber)
        for (const ids of partsOf(some))
          await calls.call((all) => all.updateMany({ _id: { $in: ids } }, { $set: { callsRepresented } }));
      for (const ids of partsOf(removed)) await calls.call((all) => all.deleteMany({ _id: { $in: ids } }));
    },
    removeBefore: async (time) => {
      await calls.removeBefore(time);
      return false;
    },
    close: () => calls.close(),
  };
}

function documentOf({ id, projectId, call: { callsRepresented, ...call } }: LoggedCall): CallDocument {
  const body = JSON.stringify(call);
  return {
    _id: id,
    project: projectId,
    at: Date.parse(call.time),
    request: call.requestId,
    key: call.keyId,
    model: call.model,
    outcome: call.outcome,
    body,
    bytes: Buffer.byteLength(body),
    callsRepresented,
  };
}

function outlineOf({
  _id: id,
  at,
  outcome,
  key,
  model,
  bytes,
  callsRepresented,
}: Omit<CallDocument, 'body'>): CallOutline {
  return { id, at, isServed: outcome === 'served', keyId: key, model, bytes, callsRepresented };
}

function* partsOf(calls: ReadonlyArray<CallOutline>): Generator<string[], void, void> {
  for (let from = 0; from < calls.length; from += idsAtOnce)
    yield calls.slice(from, from + idsAtOnce).map(({ id }) => id);
}
