import { entityHistory, quote, unlisted } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import type { FileEvents } from './events.ts';
import { type FileState, file, newFileRecord } from './file.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'file', id });

/** Holds and releases belong to the batch's progress, so they are not listed. */
export const fileHistory = entityHistory<FileState, FileEvents>({
  entity: file,
  events: {
    FileCreated: {
      resource: itself,
      summary: ({ filename, bytes }) => `The file ${quote(filename)} of ${bytes} bytes was uploaded.`,
    },
    FileHeld: unlisted,
    FileReleased: unlisted,
    FileDeleted: {
      resource: itself,
      summary: ({ reason }) => (reason === 'expired' ? 'The file expired.' : 'The file was deleted.'),
    },
  },
  record: async (state, _, { dataAt }) => {
    if (state === null || state.deleted) return null;
    return newFileRecord((await dataAt(0)) as unknown as FileEvents['FileCreated'], state.createdAt);
  },
});
