import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { exampleIds } from '#domain/shared/examples.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { JsonPatch } from '#shared/codecs/json-patch.ts';
import { json } from '#shared/codecs/json-value.ts';
import { record, recordMembers } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

export const resourceKinds = [
  'flow',
  'flow-version',
  'phone-number',
  'agent-profile',
  'template',
  'template-version',
  'instance',
  'store',
  'file',
  'batch',
  'organization',
  'customer',
  'project',
  'key',
  'webhook-endpoint',
  'projection',
  'process',
  'event',
] as const;

export type ResourceKind = (typeof resourceKinds)[number];

export interface ResourceName {
  readonly kind: ResourceKind;
  readonly id: string;
}

const [firstKind, ...otherKinds] = resourceKinds;

/** The kinds of resources, as an input or an answer names them. */
export const ResourceKindCodec = enumeration('ResourceKind', firstKind, ...otherKinds);

const exampleTime = '2026-01-06T14:05:00.000Z';

/** An event in histories, the audit, the feed and webhooks. */
const describedEvent = recordMembers({
  type: [text(), 'FlowRenamed'],
  time: [timestamp, exampleTime],
  actor: [
    t.intersection([
      t.type({
        keyId: text(),
        keyType: text(),
        /** The name of the key; null for Switchyard itself. */
        keyName: nullable(text()),
      }),
      /** What the caller claimed in `Switchyard-On-Behalf-Of`. */
      t.partial({ onBehalfOf: text() }),
    ]),
    { keyId: exampleIds.apiKey, keyType: 'project', keyName: 'Back office' },
  ],
  requestId: [text(), '0b8f8a54-6d7c-4f0e-9a54-2f3c1f6f0c11'],
  /** The resource that `changes` is about. */
  resource: [t.type({ kind: ResourceKindCodec, id: text() }), { kind: 'flow', id: exampleIds.flow }],
  /** A sentence about the event. */
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

const Described = record('DescribedEvent', describedEvent);

export type DescribedEvent = t.TypeOf<typeof Described>;

export const HistoryEvent = record('HistoryEvent', { revision: [t.number, 3], ...describedEvent });

export type HistoryEvent = t.TypeOf<typeof HistoryEvent>;

const {
  changes: [, exampleChanges],
  ...described
} = describedEvent;

/** An entry of the audit, the live feed and webhooks. */
export const AuditEntry = record(
  'AuditEntry',
  {
    /** The position of the event in the log. */
    position: [t.number, 4_711],
    ...described,
    /** The patch; null if it is longer than 64 KiB: the resource's history has it in full. */
    changes: [nullable(JsonPatch), exampleChanges],
  },
  { changesOmitted: t.literal(true) },
);

export type AuditEntry = t.TypeOf<typeof AuditEntry>;

/** An event that a command would append. */
const PlannedEvent = t.type({
  type: Described.props.type,
  summary: Described.props.summary,
  changes: Described.props.changes,
});

export type PlannedEvent = t.TypeOf<typeof PlannedEvent>;

/** The events that the command would append and its answer, without secrets. */
export const DryRun = t.type(
  {
    dryRun: t.literal(true),
    events: t.readonlyArray(PlannedEvent),
    /** The answer; null for an answer without content. */
    answer: json,
  },
  'DryRun',
);

export type DryRun = t.TypeOf<typeof DryRun>;
