import { join } from 'node:path';
import type { Config } from '#app/config.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import { openSqliteCheckpointStore } from '#process-engine/checkpoints/sqlite/sqlite-checkpoint-store.ts';

/** Opens the checkpoints of processes, each time anew. @param fence of the lease they are saved under, where nodes share them */
export type OpenCheckpoints = (fence?: number) => CheckpointStore;

/** What opens the checkpoints of processes: beside the read models, which all nodes share or one embeds. */
export async function createCheckpointOpener({
  readStore,
  dataDir,
}: Pick<Config, 'readStore' | 'dataDir'>): Promise<OpenCheckpoints> {
  if (readStore.kind === 'sqlite') return () => openSqliteCheckpointStore(join(dataDir, 'processes.db'));
  const { openMongoDbCheckpointStore } = await import(
    '#process-engine/checkpoints/mongodb/mongodb-checkpoint-store.ts'
  );
  const { url } = readStore;
  return (fence = 0) => openMongoDbCheckpointStore({ url, fence });
}
