import type { WorldHistory } from '../history.ts';
import type { Outside } from '../outside.ts';
import type { SharedStores } from '../surroundings.ts';
import type { WorldLog } from './world-log.ts';

/** Finds lines that are missing in the files of ended batches, that are there twice, or that were asked too often. */
export function findBatchFaults(
  log: WorldLog,
  { asked }: Outside,
  { blobs, history }: Pick<SharedStores, 'blobs'> & { readonly history: WorldHistory },
): ReadonlyArray<string> {
  const problems: string[] = [];
  for (const { data } of log.of('BatchEnded')) {
    const created = log.of('BatchCreated').find((event) => event.data.id === data.id);
    const input = linesOf(blobs, log, String(created?.data.inputFileId));
    const output = linesOf(blobs, log, data.outputFileId);
    const errors = linesOf(blobs, log, data.errorFileId);
    if (input === null || output === null || errors === null) continue;
    const recorded = [...output, ...errors];
    if (new Set(recorded).size < recorded.length) problems.push(`the batch ${data.id} has a line twice`);
    if (data.outcome === 'completed' && recorded.length !== input.length)
      problems.push(`the batch ${data.id} has ${recorded.length} of ${input.length} lines`);
    for (const customId of input) {
      const asks = asked.filter((line) => line.batchId === data.id && line.customId === customId);
      const [first = 0, last = 0] = [asks[0]?.at, asks.at(-1)?.at];
      const reasons = history.termsOf('batches', first, last) + history.strangeErrors(first, last);
      if (asks.length > 1 + reasons) problems.push(`the line ${customId} of ${data.id} was asked ${asks.length} times`);
    }
  }
  return problems;
}

/** @returns the ids of its lines; null if the file is gone */
function linesOf(blobs: SharedStores['blobs'], log: WorldLog, fileId: unknown): ReadonlyArray<string> | null {
  if (fileId === null) return [];
  const created = log.of('FileCreated').find(({ data }) => data.id === fileId);
  const bytes = blobs.files.get(String(created?.data.blobId))?.bytes ?? null;
  if (bytes === null) return null;
  const lines = bytes.toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { readonly custom_id: string }).custom_id);
}
