import { storedBytes } from '#event-store/append-limits.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { defaultMaxAppendBytes } from '#event-store/event-store.ts';
import { LogError } from './log-failure.ts';

/** Consecutive events of one stream that one append may store. */
export interface AppendBatch {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: ReadonlyArray<StoredEvent>;
}

/** The appends in order. Each holds consecutive events of one stream, up to an append's limit. */
export function* splitIntoAppends(events: ReadonlyArray<StoredEvent>): Generator<AppendBatch, void, void> {
  let run: StoredEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const more = storedBytes([event]);
    if (run[0] !== undefined && (run[0].stream !== event.stream || bytes + more > defaultMaxAppendBytes)) {
      yield runOf(run[0], run);
      run = [];
      bytes = 0;
    }
    run.push(event);
    bytes += more;
  }
  if (run[0] !== undefined) yield runOf(run[0], run);
}

function runOf({ stream, revision }: StoredEvent, events: ReadonlyArray<StoredEvent>): AppendBatch {
  return { stream, expectedRevision: revision - 1, events };
}

/** Refuses events that do not follow the target's stream. @param actualRevision of the stream in the target */
export function checkRevisionFollows({ stream, expectedRevision }: AppendBatch, actualRevision: number): LogError {
  return new LogError(
    `The target has ${stream} at revision ${actualRevision}, where ${expectedRevision} should be: something else writes to it; stop that, and import into an empty store.`,
  );
}
