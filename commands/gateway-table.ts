import type { AnyCommand } from '#application/commands/command.ts';
import { cancelBatch } from './batch/cancel-batch.ts';
import { createBatch } from './batch/create-batch.ts';
import { createFile } from './file/create-file.ts';
import { deleteFile } from './file/delete-file.ts';
import { addStoreFile } from './store/add-store-file.ts';
import { createStore } from './store/create-store.ts';
import { deleteStore } from './store/delete-store.ts';
import { removeStoreFile } from './store/remove-store-file.ts';

/** For nodes with only the role `gateway`, in the order in which documentation lists them. */
export const gatewayCommands: ReadonlyArray<AnyCommand> = [
  deleteFile,
  createBatch,
  cancelBatch,
  createStore,
  deleteStore,
  addStoreFile,
  removeStoreFile,
];

/** Their input is an uploaded file. */
export const uploadCommands: ReadonlyArray<AnyCommand> = [createFile];
