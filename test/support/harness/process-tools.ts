import * as E from 'fp-ts/lib/Either.js';
import type { StreamWriter } from '#application/commands/stream-writer.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { CommandRejectedError } from '#process-engine/command-rejected-error.ts';
import type { ProcessTools } from '#process-engine/process.ts';
import type { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';

/** What a process reacts to an event with, as the runner gives it; its pauses take no time. */
export function processTools(
  handler: StreamWriter,
  documents: ReadModel,
  { id, metadata: { actor, requestId, $correlationId } }: RecordedEvent,
): ProcessTools {
  const origin = { actor, requestId, correlationId: $correlationId, causationId: id };
  return {
    load: (entity, key) => handler.load(entity, key),
    dataAt: async (entity, key, revision) => (await handler.eventAt(entity, key, revision)).data,
    documentsUpToDate: async () => documents,
    pauseUntil: async () => undefined,
    log: { error: () => undefined },
    handle: async (handling) => {
      const handled = await handler.write({ ...handling, origin });
      if (E.isLeft(handled)) throw new CommandRejectedError(handled.left);
    },
  };
}
