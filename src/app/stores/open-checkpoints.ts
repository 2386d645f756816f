import { join } from 'node:path';
import type { Config } from '#app/config.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import { openSqliteCheckpointStore } from '#process-engine/checkpoints/sqlite/sqlite-checkpoint-store.ts';
import { withVariableName } from '#shared/errors/startup-error.ts';
import type { MongoDbAvailabilities } from './mongodb-availabilities.ts';

const variable = 'READ_STORE_URL';

/**
 * Opens the checkpoints of processes. Each call opens a separate store.
 * @param fence the fencing token of the lease, on shared stores
 */
export type OpenCheckpoints = (fence?: number) => CheckpointStore;

/**
 * Creates the function that opens checkpoints of processes. They are beside the read models, which all nodes share or
 * one embeds.
 */
export async function createCheckpointOpener(
  { readStore, dataDir }: Pick<Config, 'readStore' | 'dataDir'>,
  mongoDb: MongoDbAvailabilities,
): Promise<OpenCheckpoints> {
  if (readStore.kind === 'sqlite') return () => openSqliteCheckpointStore(join(dataDir, 'processes.db'));
  const { openMongoDbCheckpointStore } = await import(
    '#process-engine/checkpoints/mongodb/mongodb-checkpoint-store.ts'
  );
  const { url } = readStore;
  const availability = await mongoDb.at(url, variable);
  return (fence = 0) => withVariableName(variable, () => openMongoDbCheckpointStore({ url, availability, fence }));
}
