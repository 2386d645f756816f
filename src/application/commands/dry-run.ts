import { describeEvent } from '#application/history/describe-event.ts';
import { EventDataReader } from '#application/history/event-data-reader.ts';
import { foldEvent } from '#application/history/folded-stream.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { StreamState } from '#application/streams/stream-state.ts';
import { historyOfStream } from '#domain/histories.ts';
import type { PlannedEvent } from '#domain/history/record.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { DataAt } from '#domain/shared/text-reference.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { PersonalTexts } from '#personal-data/personal-data.ts';
import type { Json } from '#shared/json/json.ts';
import type { AnyCommand } from './command.ts';

/**
 * Describes the events of a dry run as histories do.
 * @throws UnavailableError
 */
export async function describePlannedEvents<State, Events>(
  entity: Entity<State, Events>,
  before: StreamState<State>,
  events: ReadonlyArray<RecordedEvent>,
  dataAt: DataAt,
  personalTexts: PersonalTexts,
): Promise<ReadonlyArray<PlannedEvent>> {
  const history = historyOfStream(events[0]?.stream ?? '');
  if (history === null) return [];
  const data = new EventDataReader(dataAt);
  const described: PlannedEvent[] = [];
  const { state, revision, resourceRevision, time } = before;
  let folded = { state, revision, resourceRevision, time, bytes: 0 };
  for (const event of events) {
    const after = foldEvent(entity, folded, event);
    const subject = history.personalSubject?.(after.state) ?? null;
    const open = await personalTexts.readerOf(subject === null ? [] : [subject]);
    const entry = await describeEvent(
      history,
      { event, before: folded, after },
      { data, open, findKeyName: async () => null },
    );
    if (entry !== null) described.push({ type: entry.type, summary: entry.summary, changes: entry.changes });
    folded = after;
  }
  return described;
}

/** The result of a dry run. @param body the answer that the command would have */
export function dryRunResult({ output }: AnyCommand, events: ReadonlyArray<PlannedEvent>, body: Json): OperationResult {
  const answer = output === null ? null : body;
  return { status: 200, body: { dryRun: true, events: events as unknown as Json, answer } };
}
