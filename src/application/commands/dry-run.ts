import * as t from 'io-ts';
import { describedEvent, describeEvent } from '#application/history/describe-event.ts';
import { EventDataReader } from '#application/history/event-data-reader.ts';
import { foldEvent } from '#application/history/folded-stream.ts';
import { historyOfStream } from '#domain/history/table.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { DataAt } from '#domain/shared/text-reference.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { PersonalTexts } from '#personal-data/personal-data.ts';
import { json } from '#shared/codecs/json-value.ts';
import type { StreamState } from './stream-state.ts';

/** An event that a command would append. */
const TriedEvent = t.type({
  type: describedEvent.type,
  summary: describedEvent.summary,
  changes: describedEvent.changes,
});

type TriedEvent = t.TypeOf<typeof TriedEvent>;

/** The answer of a dry run: the events that the command would append and its answer, without secrets. */
export const DryRun = t.type(
  {
    dryRun: t.literal(true),
    events: t.readonlyArray(TriedEvent),
    /** Null for an answer without content. */
    answer: json,
  },
  'DryRun',
);

/** The events that a command would append to a stream. */
export interface RehearsedWrite<State> {
  readonly before: StreamState<State>;
  readonly events: ReadonlyArray<RecordedEvent>;
}

/**
 * Describes the events of a dry run as histories do.
 * @throws UnavailableError
 */
export async function describeRehearsal<State, Events>(
  entity: Entity<State, Events>,
  { before, events }: RehearsedWrite<State>,
  dataAt: DataAt,
  personalTexts: PersonalTexts,
): Promise<ReadonlyArray<TriedEvent>> {
  const history = historyOfStream(events[0]?.stream ?? '');
  if (history === null) return [];
  const data = new EventDataReader(dataAt);
  const described: TriedEvent[] = [];
  const { state, revision, resourceRevision, time } = before;
  let folded = { state, revision, resourceRevision, time, weight: 0 };
  for (const event of events) {
    const after = foldEvent(entity, folded, event);
    const subject = history.personalSubject?.(after.state) ?? null;
    const open = await personalTexts.readerOf(subject === null ? [] : [subject]);
    const said = await describeEvent(history, { event, before: folded, after }, { data, open });
    if (said !== null) described.push({ type: said.type, summary: said.summary, changes: said.changes });
    folded = after;
  }
  return described;
}
