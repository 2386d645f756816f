import * as t from 'io-ts';
import { encodeCursor, maxPageItems, pageInput } from '#application/operations/paging.ts';
import { instant } from '#domain/codecs/time.ts';
import { listedEvent } from '#domain/histories.ts';
import type { AnyEntityHistory } from '#domain/history/listed-event.ts';
import type { DescribedEvent, HistoryEvent, ResourceName } from '#domain/history/record.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { spendTurn, turn } from '#exchange/turns.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { text } from '#shared/codecs/text.ts';
import { type EncodedJson, encodeJson } from '#shared/json/json.ts';
import { type DescriptionReads, describeEvent } from './describe-event.ts';
import { ListedEventType } from './listed-event-type.ts';
import type { HistoryStep, StreamHistory } from './stream-history.ts';

/** Filters of events. `since` is included, `until` is not. */
export const eventFilters = {
  type: ListedEventType,
  actor: withJsonSchema(text(), { type: 'string', description: 'The id of an API key' }),
  since: instant,
  until: instant,
};

const EventFilters = t.partial(eventFilters);

export type EventFilters = t.TypeOf<typeof EventFilters>;

const HistoryInput = t.partial({ ...pageInput, ...eventFilters });

export type HistoryInput = t.TypeOf<typeof HistoryInput>;

/** Maximum number of events that are read for one page. With a narrow filter, a page may be empty and not the last. */
const maxEventsPerPage = 5_000;

/** The expected length of a description before it is made. */
const expectedCharacters = 1_024;

export interface HistoryPage {
  readonly events: ReadonlyArray<EncodedJson<HistoryEvent>>;
  /** Null at the end. */
  readonly nextCursor: string | null;
}

export interface ResourceHistory {
  readonly history: AnyEntityHistory;
  /** The entity whose ids find the stream. */
  readonly entity: AnyEntityHistory['entity'];
  readonly id: string;
  /** The one of a stream's several resources whose events are listed; null for all events of the stream. */
  readonly resource: ResourceName | null;
  readonly reader: DescriptionReads;
  readonly maxPageBytes: number;
}

/** Reads a page of the history, oldest first. @throws UnavailableError */
export async function readHistoryPage(
  streams: StreamHistory,
  wanted: ResourceHistory,
  { limit = maxPageItems, cursor, ...filters }: HistoryInput,
): Promise<HistoryPage> {
  const { history, entity, id, resource, reader, maxPageBytes } = wanted;
  const from = cursor === undefined ? 0 : cursor.order + 1;
  const owner = currentWorkOwner();
  const events: EncodedJson<HistoryEvent>[] = [];
  let bytes = 0;
  let seen = 0;
  const cursorBehind = ({ event }: HistoryStep<unknown>) => encodeCursor({ order: event.revision, id: pageId });
  let last: HistoryStep<unknown> | null = null;
  for await (const step of streams.steps(entity, id, from)) {
    const isFull = events.length >= limit || seen >= maxEventsPerPage;
    if (last !== null && isFull) return { events, nextCursor: cursorBehind(last) };
    seen += 1;
    if (fits(step.event, filters) && concerns(history, step.event, resource)) {
      await turn(owner, 'history', expectedCharacters);
      const described = await describeEvent(history, step, reader, resource ?? undefined);
      const item = described === null ? null : encoded(step.event, described);
      if (last !== null && item !== null && bytes + Buffer.byteLength(item.text) > maxPageBytes && events.length > 0) {
        return { events, nextCursor: cursorBehind(last) };
      }
      if (item !== null) events.push(item);
      bytes += Buffer.byteLength(item?.text ?? '');
      spendTurn(owner, 'history', (item?.text.length ?? 0) - expectedCharacters);
    }
    last = step;
  }
  return { events, nextCursor: null };
}

/** A history's cursor is only a revision. */
const pageId = 'revision';

function encoded({ revision }: RecordedEvent, described: DescribedEvent): EncodedJson<HistoryEvent> {
  return encodeJson<HistoryEvent>({ revision, ...described });
}

function fits(
  { type, metadata }: Pick<RecordedEvent, 'type' | 'metadata'>,
  { type: wanted, actor, since, until }: EventFilters,
): boolean {
  if (wanted !== undefined && type !== wanted) return false;
  if (actor !== undefined && metadata.actor.keyId !== actor) return false;
  if (since !== undefined && metadata.time < since) return false;
  return until === undefined || metadata.time < until;
}

function concerns(history: AnyEntityHistory, { type, data }: RecordedEvent, resource: ResourceName | null): boolean {
  if (resource === null) return true;
  const listed = listedEvent(history, type);
  return listed?.resource(data, '').id === resource.id || listed?.other?.(data)?.id === resource.id;
}
