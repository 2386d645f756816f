import { randomUUID } from 'node:crypto';
import { LogCollection, type LogDocument } from '#mongodb/log-collection.ts';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { isDuplicateKey } from '#mongodb/mongodb-failure.ts';
import type { ProviderCopies, ProviderCopy } from './provider-copies.ts';
import {
  type BackgroundTarget,
  newSubject,
  type ResponseOutline,
  type ResponseStore,
  type StoredResponse,
} from './response-store.ts';

interface ResponseDocument extends LogDocument {
  readonly project: string;
  readonly response: string;
  readonly conversation: string;
  readonly depth: number;
  readonly previous: string | null;
  readonly bytes: number;
  readonly deleted: boolean;
  readonly needs: ReadonlyArray<string>;
  readonly items: ReadonlyArray<string>;
  /** Missing in responses of release 0.4. */
  readonly ancestors?: ReadonlyArray<string> | null;
  readonly provider: string | null;
  /** Missing in responses of an earlier release. */
  readonly background?: BackgroundTarget | null;
  readonly content: string;
}

/** `at` is when it is looked at. */
interface CopyDocument extends LogDocument, Omit<ProviderCopy, 'checkAt'> {}

interface SubjectDocument {
  /** The project. */
  readonly _id: string;
  readonly subject: string;
}

const outlined = { projection: { content: 0, items: 0, ancestors: 0 } } as const;

/** Maximum number of names that are looked up together, and of documents that are read for them. */
const maxNamesAtOnce = 16;
const maxFoundAtOnce = 64;

/** The order of the index that has all that is summed, so that no content is read. */
const inOrderOfIndex = { $sort: { project: 1, deleted: 1, at: 1, bytes: 1 } } as const;
const sumByProject = { $group: { _id: '$project', bytes: { $sum: '$bytes' } } } as const;

/** Opens stored responses on MongoDB, which all nodes share. */
export function openMongoDbResponseStore(options: MongoDbConnectionOptions): ResponseStore {
  const connection = new MongoDbConnection(options);
  const responses = new LogCollection<ResponseDocument>({ connection }, 'responses', [
    { project: 1, needs: 1 },
    { project: 1, items: 1 },
    // With the bytes, the sums by project read no document.
    { project: 1, deleted: 1, at: 1, bytes: 1 },
  ]);
  const subjectIn = async (projectId: string): Promise<string | null> => {
    const found = await connection.call((database) =>
      database.collection<SubjectDocument>('responseSubjects').findOne({ _id: projectId }),
    );
    return found?.subject ?? null;
  };
  return {
    add: async (response) => {
      const { projectId, id, needs, content } = response;
      await responses.insert([documentOf(response)]);
      if (needs.length === 0) return true;
      // After the insertion, so that a removal at the same time sees the response, or is seen.
      const keys = needs.map((each) => keyOf(projectId, each));
      const found = await responses.call((all) => all.countDocuments({ _id: { $in: keys } }));
      if (found === keys.length) return true;
      await responses.call((all) => all.deleteOne({ _id: keyOf(projectId, id), content }));
      return false;
    },
    finish: async ({ projectId, id, ...finished }) => {
      const filter = { _id: keyOf(projectId, id), background: { $ne: null } };
      const before = await responses.call((all) => all.findOne(filter, { projection: { items: 1 } }));
      if (before === null) return false;
      const items = [...new Set([...before.items, ...finished.items])];
      const { modifiedCount } = await responses.call((all) =>
        all.updateOne(filter, { $set: { ...finished, items, background: null } }),
      );
      return modifiedCount === 1;
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
    isNeeded: async (project, id, except) => {
      const filter = { project, needs: id, response: { $nin: [...except] } };
      return (await responses.call((all) => all.findOne(filter, { projection: { _id: 1 } }))) !== null;
    },
    markDeleted: async (projectId, id) => {
      await responses.call((all) =>
        all.updateOne({ _id: keyOf(projectId, id) }, { $set: { deleted: true, items: [] } }),
      );
    },
    remove: async (project, ids) => {
      const needing = { project, needs: { $in: [...ids] }, response: { $nin: [...ids] } };
      const found = await responses.call((all) => all.findOne(needing, { projection: { _id: 1 } }));
      if (found !== null) return false;
      await responses.call((all) => all.deleteMany({ _id: { $in: ids.map((id) => keyOf(project, id)) } }));
      await responses.call((all) => all.deleteMany(needing));
      return true;
    },
    oldest: async (project, limit) => {
      const found = await responses.call((all) =>
        all.find({ project, deleted: false }, outlined).sort({ at: 1 }).limit(limit).toArray(),
      );
      return found.map(outlineOf);
    },
    bytesByProject: async () => {
      const sums = await responses.call((all) => all.aggregate<Sum>([inOrderOfIndex, sumByProject]).toArray());
      return new Map(sums.map(({ _id, bytes }) => [_id, bytes]));
    },
    amountOf: async (project) => {
      const [count, sums, oldest] = await Promise.all([
        responses.call((all) => all.countDocuments({ project, deleted: false })),
        responses.call((all) => all.aggregate<Sum>([{ $match: { project } }, inOrderOfIndex, sumByProject]).toArray()),
        responses.call((all) =>
          all
            .find({ project, deleted: false }, { projection: { at: 1 } })
            .sort({ at: 1 })
            .limit(1)
            .toArray(),
        ),
      ]);
      return { count, bytes: sums[0]?.bytes ?? 0, oldestAt: oldest[0]?.at ?? null };
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
    forgetSubject: async (projectId, subject) => {
      await connection.call((database) =>
        database.collection<SubjectDocument>('responseSubjects').deleteOne({ _id: projectId, subject }),
      );
    },
    removeProject: async (project) => {
      await responses.call((all) => all.deleteMany({ project }));
    },
    copies: openCopies(connection),
    close: () => connection.close(),
  };
}

interface Sum {
  /** The project. */
  readonly _id: string;
  readonly bytes: number;
}

function keyOf(projectId: string, id: string): string {
  return `${projectId}/${id}`;
}

function documentOf({ projectId, id, isDeleted: deleted, ...response }: StoredResponse): ResponseDocument {
  return { _id: keyOf(projectId, id), project: projectId, response: id, deleted, ...response };
}

type OutlineDocument = Omit<ResponseDocument, 'content' | 'items'>;

function outlineOf({
  _id: _,
  project: projectId,
  response: id,
  deleted: isDeleted,
  background = null,
  ancestors = null,
  ...others
}: OutlineDocument): ResponseOutline {
  return { ...others, projectId, id, isDeleted, background, ancestors };
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
  const { content, items, ...outline } = found;
  return { ...outlineOf(outline), items, content };
}

function openCopies(connection: MongoDbConnection): ProviderCopies {
  const copies = new LogCollection<CopyDocument>({ connection }, 'responseCopies', [{ at: 1 }]);
  return {
    add: ({ checkAt: at, ...copy }) => copies.insert([{ _id: keyOf(copy.projectId, copy.id), at, ...copy }]),
    count: async (projectId, id) => {
      const filter = { _id: keyOf(projectId, id), isCounted: false };
      const { modifiedCount } = await copies.call((all) => all.updateOne(filter, { $set: { isCounted: true } }));
      return modifiedCount === 1;
    },
    due: async (time, limit) => {
      const found = await copies.call((all) =>
        all
          .find({ at: { $lte: time } })
          .sort({ at: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id: _, at: checkAt, ...copy }) => ({ ...copy, checkAt }));
    },
    postpone: async (projectId, id, { checkAt: at, failures }) => {
      await copies.call((all) => all.updateOne({ _id: keyOf(projectId, id) }, { $set: { at, failures } }));
    },
    remove: async (projectId, id) => {
      await copies.call((all) => all.deleteOne({ _id: keyOf(projectId, id) }));
    },
  };
}
