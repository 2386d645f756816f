import { LogCollection, type LogDocument } from '#mongodb/log-collection.ts';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import type { ProviderCopies, ProviderCopy } from '../provider-copies.ts';

/** `at` is when the copy is due. */
interface CopyDocument extends LogDocument, Omit<ProviderCopy, 'checkAt'> {}

export function openMongoDbProviderCopies(connection: MongoDbConnection): ProviderCopies {
  const copies = new LogCollection<CopyDocument>({ connection }, 'responseCopies', [
    { at: 1 },
    { projectId: 1, at: 1 },
  ]);
  return {
    add: ({ checkAt: at, ...copy }) => copies.insert([{ _id: copyKeyOf(copy.projectId, copy.id), at, ...copy }]),
    count: async (projectId, id) => {
      const filter = { _id: copyKeyOf(projectId, id), isCounted: false };
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
      await copies.call((all) => all.updateOne({ _id: copyKeyOf(projectId, id) }, { $set: { at, failures } }));
    },
    makeDue: async (projectId, at) => {
      await copies.call((all) => all.updateMany({ projectId, at: { $gt: at } }, { $set: { at } }));
    },
    remove: async (projectId, id) => {
      await copies.call((all) => all.deleteOne({ _id: copyKeyOf(projectId, id) }));
    },
  };
}

function copyKeyOf(projectId: string, id: string): string {
  return `${projectId}/${id}`;
}
