import { randomUUID } from 'node:crypto';
import type { Filter } from 'mongodb';
import { LogCollection, type LogDocument } from '#mongodb/log-collection.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { isDuplicateKey } from '#mongodb/mongodb-failure.ts';
import {
  type AddOutcome,
  newSubject,
  type ResponseOutline,
  type ResponseStore,
  type StoredResponse,
} from '../response-store.ts';
import { CountedBytes } from './counted-bytes.ts';
import { openMongoDbProviderCopies } from './mongodb-provider-copies.ts';
import { RemovedDocuments, removalIndexes } from './removed-documents.ts';
import { keyOf, type ResponseDocument } from './response-document.ts';

/** The id is the erased subject. */
interface ErasureDocument extends LogDocument {
  readonly project: string;
}

interface SubjectDocument {
  /** The project. */
  readonly _id: string;
  readonly subject: string;
}

const outlined = { projection: { content: 0, needs: 0, items: 0, ancestors: 0 } } as const;

/** Maximum number of names that are looked up together, and of documents that are read for them. */
const maxNamesAtOnce = 16;
const maxFoundAtOnce = 64;
const erasedAtOnce = 32;

/** The order of the index that has all that is summed, so that no content is read. */
const inOrderOfIndex = { $sort: { project: 1, deleted: 1, at: 1, bytes: 1 } } as const;
const sumByProject = { $group: { _id: '$project', bytes: { $sum: '$bytes' } } } as const;

export function openMongoDbResponseStore(options: MongoDbConnectionOptions): ResponseStore {
  const connection = new MongoDbConnection(options);
  const responses = new LogCollection<ResponseDocument>({ connection }, 'responses', [
    { project: 1, needs: 1 },
    { project: 1, items: 1 },
    // With the bytes, the sums by project read no document.
    { project: 1, deleted: 1, at: 1, bytes: 1 },
    { deleted: 1, at: 1 },
    ...removalIndexes,
  ]);
  const erasures = new LogCollection<ErasureDocument>({ connection }, 'responseErasures', [{ at: 1 }]);
  const removed = new RemovedDocuments(responses);
  const subjectIn = async (projectId: string): Promise<string | null> => {
    const found = await connection.call((database) =>
      database.collection<SubjectDocument>('responseSubjects').findOne({ _id: projectId }),
    );
    return found?.subject ?? null;
  };
  const bytesIn = async (project: string): Promise<number> => {
    const sums = await responses.call((all) =>
      all.aggregate<Sum>([{ $match: { project } }, inOrderOfIndex, sumByProject]).toArray(),
    );
    return sums[0]?.bytes ?? 0;
  };
  const counted = new CountedBytes(bytesIn);
  const outcomeOf = async (
    projectId: string,
    { subject, needs }: { readonly subject: string; readonly needs: ReadonlyArray<string> },
  ): Promise<AddOutcome> => {
    if ((await subjectIn(projectId)) !== subject) return 'erased';
    if (needs.length === 0) return 'stored';
    const keys = needs.map((id) => keyOf(projectId, id));
    const there = { _id: { $in: keys }, isRemoved: { $ne: true } };
    const found = await responses.call((all) => all.countDocuments(there));
    return found === keys.length ? 'stored' : 'needs-missing';
  };
  return {
    add: async (response, subject) => {
      const { projectId, id, needs, content } = response;
      await responses.insert([{ ...documentOf(response), subject }]);
      // After the insertion, so that a removal or an erasure at the same time sees the response, or is seen.
      const outcome = await outcomeOf(projectId, { subject, needs });
      if (outcome === 'stored') counted.add(projectId, response.bytes);
      else await responses.call((all) => all.deleteOne({ _id: keyOf(projectId, id), content }));
      return outcome;
    },
    finish: async ({ projectId, id, ...finished }, subject) => {
      const isOfSubject = { $in: [subject, null] };
      const filter = {
        _id: keyOf(projectId, id),
        background: { $ne: null },
        subject: isOfSubject,
      } as Filter<ResponseDocument>;
      const before = await responses.call((all) =>
        all.findOne(filter, { projection: { items: 1, deleted: 1, bytes: 1 } }),
      );
      if (before === null) return (await subjectIn(projectId)) === subject ? 'before' : 'erased';
      const items = before.deleted ? [] : [...new Set([...before.items, ...finished.items])];
      const { modifiedCount } = await responses.call((all) =>
        all.updateOne(filter, { $set: { ...finished, items, subject, background: null } }),
      );
      if (modifiedCount === 0) return 'before';
      counted.add(projectId, finished.bytes - before.bytes);
      return (await subjectIn(projectId)) === subject ? 'stored' : 'erased';
    },
    find: async (projectId, id) => {
      const found = await responses.call((all) => all.findOne({ _id: keyOf(projectId, id) }));
      return found === null ? null : responseOf(found);
    },
    outlines: async (projectId, ids) => {
      const last = ids.at(-1);
      if (last === undefined) return [];
      const keys = ids.map((id) => keyOf(projectId, id));
      const [found, end] = await Promise.all([
        responses.call((all) => all.find({ _id: { $in: keys } }, outlined).toArray()),
        responses.call((all) => all.findOne({ _id: keyOf(projectId, last) }, { projection: { ancestors: 1 } })),
      ]);
      const ancestors = end?.ancestors ?? null;
      return found.map((each) => ({ ...outlineOf(each), ancestors: each.response === last ? ancestors : null }));
    },
    needsOf: async (projectId, ids) => {
      const keys = ids.map((id) => keyOf(projectId, id));
      const found = await responses.call((all) =>
        all.find({ _id: { $in: keys } }, { projection: { needs: 1 } }).toArray(),
      );
      return found.flatMap(({ needs }) => needs);
    },
    file: null,
    contents: async (projectId, ids) => {
      const keys = ids.map((id) => keyOf(projectId, id));
      const found = await responses.call((all) =>
        all.find({ _id: { $in: keys } }, { projection: { response: 1, content: 1 } }).toArray(),
      );
      return new Map(found.map(({ response, content }) => [response, content]));
    },
    ofItems: async (project, items, ids) => {
      const keys = ids.map((id) => keyOf(project, id));
      const named = await responses.call((all) => all.find({ _id: { $in: keys }, deleted: false }, outlined).toArray());
      const made = await namesTogether(items, (names, limit) =>
        responses.call((all) =>
          all
            .find({ project, deleted: false, items: { $in: [...names] } }, outlined)
            .limit(limit)
            .toArray(),
        ),
      );
      return [...new Map([...named, ...made].map((each) => [each.response, outlineOf(each)])).values()];
    },
    providersOf: async (project, items) => {
      const made = await namesTogether(items, (names, limit) =>
        responses.call((all) =>
          all
            .find({ project, deleted: false, items: { $in: [...names] }, provider: { $ne: null } })
            .project<Pick<ResponseDocument, 'items' | 'provider'>>({ items: 1, provider: 1 })
            .limit(limit)
            .toArray(),
        ),
      );
      const wanted = new Set(items);
      return new Map(
        made.flatMap(({ items: names, provider }) =>
          provider === null ? [] : names.filter((name) => wanted.has(name)).map((name) => [name, provider] as const),
        ),
      );
    },
    markDeleted: async (projectId, ids) => {
      const keys = ids.map((id) => keyOf(projectId, id));
      const mark = { $set: { deleted: true, items: [], removableAt: Date.now() } };
      await responses.call((all) => all.updateMany({ _id: { $in: keys }, deleted: false }, mark));
    },
    removeUnneeded: async (projectId) => {
      const { ids, bytes } = await removed.removeSome(projectId);
      counted.add(projectId, -bytes);
      return ids;
    },
    projectsToClean: (limit) => removed.projects(limit),
    storedBefore: async (time, limit) => {
      const found = await responses.call((all) =>
        all
          .find({ deleted: false, at: { $lt: time } }, { projection: { project: 1, response: 1 } })
          .sort({ at: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ project: projectId, response: id }) => ({ projectId, id }));
    },
    oldest: async (project, limit) => {
      const found = await responses.call((all) =>
        all.find({ project, deleted: false }, outlined).sort({ at: 1 }).limit(limit).toArray(),
      );
      return found.map(outlineOf);
    },
    bytesOf: (projectId) => counted.of(projectId),
    amountOf: async (project) => {
      const [count, bytes, oldest] = await Promise.all([
        responses.call((all) => all.countDocuments({ project, deleted: false })),
        bytesIn(project),
        responses.call((all) =>
          all
            .find({ project, deleted: false }, { projection: { at: 1 } })
            .sort({ at: 1 })
            .limit(1)
            .toArray(),
        ),
      ]);
      return { count, bytes, oldestAt: oldest[0]?.at ?? null };
    },
    subjectOf: async (projectId) => {
      const known = await subjectIn(projectId);
      if (known !== null) return known;
      const made = newSubject(projectId, randomUUID());
      await connection.call((database) =>
        database
          .collection<SubjectDocument>('responseSubjects')
          .insertOne({ _id: projectId, subject: made })
          .catch((error: unknown) => {
            // Another node has made one meanwhile.
            if (!isDuplicateKey(error)) throw error;
          }),
      );
      return (await subjectIn(projectId)) ?? made;
    },
    hasRoomFor: async () => true,
    beginErasure: async ({ projectId, subject, at }) => {
      await erasures.insert([{ _id: subject, project: projectId, at }]);
      await connection.call((database) =>
        database.collection<SubjectDocument>('responseSubjects').deleteOne({ _id: projectId, subject }),
      );
    },
    eraseSome: async ({ projectId, subject }, after) => {
      // The character after the slash ends the ids of the project.
      const ofProject = { _id: { $gt: keyOf(projectId, after), $lt: `${projectId}0` } };
      const found = await responses.call((all) =>
        all
          .find(ofProject, { projection: { response: 1 } })
          .sort({ _id: 1 })
          .limit(erasedAtOnce)
          .toArray(),
      );
      const keys = found.map(({ _id }) => _id);
      const isErased = { _id: { $in: keys }, subject: { $in: [subject, null] } } as Filter<ResponseDocument>;
      if (keys.length > 0) await responses.call((all) => all.deleteMany(isErased));
      counted.forget(projectId);
      return found.at(-1)?.response ?? null;
    },
    erasuresBefore: async (time, limit) => {
      const found = await erasures.call((all) =>
        all
          .find({ at: { $lt: time } })
          .sort({ at: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id: subject, project: projectId, at }) => ({ projectId, subject, at }));
    },
    endErasure: async ({ subject }) => {
      await erasures.call((all) => all.deleteOne({ _id: subject }));
    },
    copies: openMongoDbProviderCopies(connection),
    close: () => connection.close(),
  };
}

interface Sum {
  /** The project. */
  readonly _id: string;
  readonly bytes: number;
}

function documentOf({ projectId, id, isDeleted: deleted, ...response }: StoredResponse): ResponseDocument {
  return { _id: keyOf(projectId, id), project: projectId, response: id, deleted, ...response };
}

type OutlineDocument = Omit<ResponseDocument, 'content' | 'needs' | 'items'>;

function outlineOf({
  _id: _,
  subject: __,
  removableAt: ___,
  isRemoved: ____,
  project: projectId,
  response: id,
  deleted: isDeleted,
  ancestors = null,
  ...others
}: OutlineDocument): ResponseOutline {
  return { ...others, projectId, id, isDeleted, ancestors };
}

/**
 * Looks names up in pieces. Where many documents have the same ones, each name is looked up alone, so that none is
 * missed.
 */
async function namesTogether<Found>(
  names: ReadonlyArray<string>,
  find: (names: ReadonlyArray<string>, limit: number) => Promise<ReadonlyArray<Found>>,
): Promise<ReadonlyArray<Found>> {
  const all: Found[] = [];
  for (let start = 0; start < names.length; start += maxNamesAtOnce) {
    const piece = names.slice(start, start + maxNamesAtOnce);
    const found = await find(piece, maxFoundAtOnce);
    if (found.length < maxFoundAtOnce) all.push(...found);
    else for (const name of piece) all.push(...(await find([name], 1)));
  }
  return all;
}

function responseOf(found: ResponseDocument): StoredResponse {
  const { content, needs, items, ...outline } = found;
  return { ...outlineOf(outline), needs, items, content };
}
