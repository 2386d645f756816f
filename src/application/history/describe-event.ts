import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import {
  type AnyEntityHistory,
  type RecordReader,
  type ResourceName,
  resourceKinds,
} from '#domain/history/listed-event.ts';
import { listedEvent } from '#domain/history/table.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { Actor } from '#domain/shared/event.ts';
import { exampleIds } from '#domain/shared/examples.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { record, recordMembers } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';
import { JsonPatch, jsonPatch } from '#shared/json/json-patch.ts';
import type { EventDataReader } from './event-data-reader.ts';
import type { FindKeyName } from './key-names.ts';
import type { HistoryStep } from './stream-history.ts';

const [firstKind, ...otherKinds] = resourceKinds;

/** The kinds of resource, as an input or an answer names them. */
export const ResourceKindCodec = enumeration('ResourceKind', firstKind, ...otherKinds);

const exampleTime = '2026-01-06T14:05:00.000Z';

/** The description of an event in histories, the audit, the feed and webhooks. */
export const describedEvent = recordMembers({
  type: [text(), 'FlowRenamed'],
  time: [timestamp, exampleTime],
  actor: [
    t.intersection([
      t.type({
        keyId: text(),
        keyType: text(),
        /** Null for Switchyard itself. */
        keyName: nullable(text()),
      }),
      /** As the caller claimed it in `Switchyard-On-Behalf-Of`. */
      t.partial({ onBehalfOf: text() }),
    ]),
    { keyId: exampleIds.apiKey, keyType: 'project', keyName: 'Back office' },
  ],
  requestId: [text(), '0b8f8a54-6d7c-4f0e-9a54-2f3c1f6f0c11'],
  /** The resource of `changes`. */
  resource: [t.type({ kind: ResourceKindCodec, id: text() }), { kind: 'flow', id: exampleIds.flow }],
  /** One sentence. */
  summary: [text(), 'The flow was renamed to “Opening hours”.'],
  /** The patch from the record before to the record after; null if there is no record. */
  changes: [
    JsonPatch,
    [
      { op: 'replace', path: '/updatedAt', value: exampleTime },
      { op: 'replace', path: '/name', value: 'Opening hours' },
    ],
  ],
});

export const Described = record('DescribedEvent', describedEvent);

/** An event in an answer of a history. */
export type DescribedEvent = t.TypeOf<typeof Described>;

/** The reads for descriptions of one stream's events. */
export interface StreamReader {
  readonly data: EventDataReader;
  readonly open: RecordReader['open'];
  readonly findKeyName: FindKeyName;
}

/**
 * Describes an event of a stream.
 * @param resource the resource whose changes are shown; default that of the event
 * @returns null for an event that no history lists
 */
export async function describeEvent(
  history: AnyEntityHistory,
  { event, before, after }: HistoryStep<unknown>,
  { data: eventData, open, findKeyName }: StreamReader,
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
