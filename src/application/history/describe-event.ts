import { listedEvent } from '#domain/histories.ts';
import type { AnyEntityHistory, RecordReader } from '#domain/history/listed-event.ts';
import type { DescribedEvent, ResourceName } from '#domain/history/record.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { Actor } from '#domain/shared/event.ts';
import { jsonPatch } from '#shared/codecs/json-patch.ts';
import type { EventDataReader } from './event-data-reader.ts';
import type { FindKeyName } from './key-names.ts';
import type { HistoryStep } from './stream-history.ts';

/** What descriptions of one stream's events read. */
export interface DescriptionReads {
  readonly data: EventDataReader;
  readonly open: RecordReader['open'];
  readonly findKeyName: FindKeyName;
}

/**
 * @param resource the resource whose changes are shown; default that of the event
 * @returns null for an event that no history lists
 */
export async function describeEvent(
  history: AnyEntityHistory,
  { event, before, after }: HistoryStep<unknown>,
  { data: eventData, open, findKeyName }: DescriptionReads,
  resource?: ResourceName,
): Promise<DescribedEvent | null> {
  const listed = listedEvent(history, event.type);
  if (listed === null) return null;
  const { type, data, stream, metadata } = event;
  const { time, actor, requestId } = metadata;
  const { kind, id } = resource ?? listed.resource(data, streamKeyOf(stream));
  eventData.remember(event);
  const reader = { dataAt: eventData.dataAt, open };
  const recordBefore = await history.record(before.state, { kind, id }, reader);
  const recordAfter = await history.record(after.state, { kind, id }, reader);
  return {
    type,
    time,
    actor: await describeActor(actor, findKeyName),
    requestId,
    resource: { kind, id },
    summary: listed.summary(data, after.state),
    changes: jsonPatch(recordBefore, recordAfter),
  };
}

async function describeActor(
  { keyId, keyType, onBehalfOf }: Actor,
  findKeyName: FindKeyName,
): Promise<DescribedEvent['actor']> {
  const keyName = await findKeyName(keyId);
  return { keyId, keyType, keyName, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) };
}
