import * as E from 'fp-ts/lib/Either.js';
import type { FileEvents } from '#domain/file/events.ts';
import { expiryOf, type FileState, file, fileRemoved } from '#domain/file/file.ts';
import { type ProcessTools, process, when } from '#process-engine/process.ts';

/** Maximum number of removals at the same time; files that have not expired yet do not count. */
const maxRemovalsAtOnce = 4;
/** The pause before the next look at a file that a batch still reads. */
const heldMs = 60_000;
/** Maximum pause, because a timer of Node takes less than 25 days. */
const maxPauseMs = 24 * 60 * 60 * 1_000;

/** Removes expired files. They are 404 from the moment of their expiry, even before this process removes them. */
export const expireFiles = process<FileEvents>({
  name: 'expire-files',
  concurrency: maxRemovalsAtOnce,
  on: {
    FileCreated: when(
      ({ data, metadata }) => expiryOf(metadata.time, data.expiresAfterSeconds) !== null,
      ({ data }, tools) => removeWhenExpired(data.id, tools),
    ),
  },
});

async function removeWhenExpired(id: string, tools: ProcessTools): Promise<void> {
  for (;;) {
    const { state } = await tools.load(file, id);
    if (state === null || state.deleted) return;
    const leftMs = Date.parse(state.expiresAt ?? '') - tools.now().getTime();
    if (leftMs > 0) await tools.pauseUntil(inMs(Math.min(leftMs, maxPauseMs), tools));
    else if (!state.heldBy.isEmpty()) await tools.pauseUntil(inMs(heldMs, tools));
    else {
      const decide = ({ state: now }: { readonly state: FileState }) =>
        E.right({ events: fileRemoved('expired', now), tenant: null });
      await tools.write({ entity: file, id, decide });
    }
  }
}

function inMs(milliseconds: number, { now }: Pick<ProcessTools, 'now'>): string {
  return new Date(now().getTime() + milliseconds).toISOString();
}
