import * as E from 'fp-ts/lib/Either.js';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import { streamName } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { SeenStreams } from '#process-engine/cascade.ts';
import { CommandRejectedError } from '#process-engine/create-process-tools.ts';
import type { ProcessTools } from '#process-engine/process.ts';
import type { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';

/** The tools that the runner passes to a reaction, except that pauses take no time. */
export function processTools(
  writer: StreamWriter,
  documents: ReadModel,
  { id, metadata: { actor, requestId, $correlationId } }: RecordedEvent,
  met = new SeenStreams({}, false),
): ProcessTools {
  const origin = { actor, requestId, correlationId: $correlationId, causationId: id };
  return {
    load: (entity, key) => writer.load(entity, key),
    hasSeen: (entity, key) => met.has(streamName(entity, key)),
    dataAt: async (entity, key, revision) => (await writer.eventAt(entity, key, revision)).data,
    documentsUpToDate: async () => documents,
    pauseUntil: async () => undefined,
    now: () => new Date(),
    log: { error: () => undefined },
    write: async (write) => {
      const handled = await writer.write({ ...write, origin });
      if (E.isLeft(handled)) throw new CommandRejectedError(handled.left);
    },
  };
}
