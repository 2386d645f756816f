import * as E from 'fp-ts/lib/Either.js';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import { streamName } from '#domain/shared/entity.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { SeenStreams } from './cascade.ts';
import type { OwnWrites } from './own-writes.ts';
import type { ProcessTools } from './process.ts';
import type { PauseUntil } from './reactions.ts';

export interface ProcessToolsOptions {
  readonly writer: StreamWriter;
  readonly documents: ReadStore;
  readonly log: Pick<Logger, 'error'>;
}

export interface ReactionContext {
  /** The event that causes what the reaction appends. */
  readonly cause: RecordedEvent;
  /** When it aborts, the reaction appends nothing more. */
  readonly signal: AbortSignal;
  readonly pauseUntil: PauseUntil;
  /** Null for a process with `concurrency`. */
  readonly seen: SeenStreams | null;
  /** Called for each append of the reaction. */
  readonly onAppended: (position: number) => void;
  readonly ownWrites: OwnWrites;
  /** @throws when the signal aborts first */
  readonly untilShown: (collection: string, position: number) => Promise<void>;
}

export function createProcessTools(options: ProcessToolsOptions, context: ReactionContext): ProcessTools {
  const { writer, documents, log } = options;
  const { cause, signal, pauseUntil, seen, onAppended, ownWrites, untilShown } = context;
  const { actor, requestId, $correlationId } = cause.metadata;
  const origin = { actor, requestId, correlationId: $correlationId, causationId: cause.id };
  return {
    load: (entity, id) => writer.load(entity, id, streamName(entity, id) === cause.stream ? cause.revision : undefined),
    hasSeen: (entity, id) => seen?.has(streamName(entity, id)) ?? null,
    dataAt: async (entity, id, revision) => (await writer.eventAt(entity, id, revision)).data,
    pauseUntil,
    now: () => new Date(clock.time()),
    log,
    write: async (write) => {
      const decide: typeof write.decide = (stream, deadline) => {
        // The stream may have been read slowly. The next term decides then.
        signal.throwIfAborted();
        return write.decide(stream, deadline);
      };
      const handled = await writer.write({ ...write, decide, origin });
      if (E.isLeft(handled)) throw new CommandRejectedError(handled.left);
      const last = handled.right.events.at(-1);
      if (last === undefined) return ownWrites.found();
      ownWrites.appended(last.position);
      onAppended(last.position);
    },
    documentsUpToDate: async (collection) => {
      await untilShown(collection, Math.max(cause.position, await ownWrites.upTo()));
      return documents;
    },
  };
}

export class CommandRejectedError extends Error {
  override readonly name = 'CommandRejectedError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.failure = failure;
  }
}

const passing: ReadonlySet<FailureCode> = new Set(['unavailable', 'too-many-conflicts']);

/** True if a retry may resolve the refusal. Any other one is final. */
export function isPassing({ code }: Failure): boolean {
  return passing.has(code);
}
