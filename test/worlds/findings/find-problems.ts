import type { DigestFilesInMemory } from '../doubles/digest-files-in-memory.ts';
import type { WorldHistory } from '../history.ts';
import type { Outside } from '../outside.ts';
import type { SharedStores } from '../surroundings.ts';
import { findBatchFaults } from './batch-findings.ts';
import { findRepetitions } from './repetitions.ts';
import { findUnfinished } from './unfinished.ts';
import { findWebhookFaults } from './webhook-findings.ts';
import { WorldLog } from './world-log.ts';
import { findWrongDocuments } from './wrong-documents.ts';

export interface LookedAtWorld {
  readonly shared: SharedStores;
  readonly outside: Outside;
  readonly digestFiles: DigestFilesInMemory;
  readonly history: WorldHistory;
}

/** Finds what is wrong in a world in which nothing fails any more. Some of it may only be late. */
export function findProblems({ shared, outside, digestFiles, history }: LookedAtWorld): ReadonlyArray<string> {
  const log = new WorldLog(shared.events.log);
  const { blobs } = shared;
  const found = [
    ...findUnfinished(log, shared),
    ...findRepetitions(log),
    ...findWebhookFaults(log, outside, history),
    ...findBatchFaults(log, outside, { blobs, history }),
    ...digestFiles.overwritten.map((name) => `the digest ${name} was overwritten`),
    ...shared.blobs.replaced.map((id) => `the file ${id} was overwritten`),
  ];
  // It takes longest.
  return found.length > 0 ? found : findWrongDocuments(log, shared);
}
