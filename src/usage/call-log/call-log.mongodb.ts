import type { Filter } from 'mongodb';
import { before, LogCollection, type LogDocument, newestFirst } from '#mongodb/log-collection.ts';
import type { MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { type CallLog, callOf, callPageOf, type LoggedCall } from './call-log.ts';

interface CallDocument extends LogDocument {
  readonly project: string;
  readonly request: string;
  readonly key: string;
  readonly model: string;
  readonly outcome: string;
  /** The record as JSON. */
  readonly body: string;
  readonly bytes: number;
  /** Always 1. Release 0.5.0 reads it; the next release does not store it. */
  readonly callsRepresented: number;
}

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
        ...(after === null ? {} : before(after)),
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
    oldest: async (project, limit) => {
      const found = await calls.call((all) =>
        all
          .find({ project }, { projection: { at: 1, bytes: 1 } })
          .sort({ at: 1, _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id: id, at, bytes }) => ({ id, at, bytes }));
    },
    remove: async (_, removed) => {
      await calls.call((all) => all.deleteMany({ _id: { $in: removed.map(({ id }) => id) } }));
    },
    removeBefore: async (time) => {
      await calls.removeBefore(time);
      return false;
    },
    close: () => calls.close(),
  };
}

function documentOf({ id, projectId, call }: LoggedCall): CallDocument {
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
    callsRepresented: 1,
  };
}
