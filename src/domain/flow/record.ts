import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { versionNumber } from '#domain/codecs/version-number.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { json } from '#shared/codecs/json-value.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';
import { FlowTier, FlowType } from './events.ts';

/** See "Flow version" in the contract. */
export const FlowVersionRecord = record(
  'FlowVersion',
  {
    id: [cuid, exampleIds.flowVersion],
    flowId: [cuid, exampleIds.flow],
    version: [versionNumber, 1],
    tag: [text(), 'v1'],
    flowSchema: [json, { start: 'greet', nodes: { greet: { say: 'Good morning, front desk.', next: null } } }],
    isActive: [t.boolean, true],
    ...recordTimes,
  },
  /** The version that it copies, if it is a copy. */
  { restoredFrom: cuid },
);

export type FlowVersionRecord = t.TypeOf<typeof FlowVersionRecord>;

/** See "Flow" in the contract. */
export const FlowRecord = record(
  'Flow',
  {
    id: [cuid, exampleIds.flow],
    projectId: [cuid, exampleIds.project],
    name: [text(), 'Opening hours'],
    type: [FlowType, 'simple'],
    description: [nullable(text()), 'Answers when the desk is closed'],
    tier: [FlowTier, 'standard'],
    agentProfileId: [nullable(cuid), null],
    ...recordTimes,
  },
  /** The active version, only in an answer that was asked for it; null without one. */
  { activeVersion: nullable(FlowVersionRecord) },
);

export type FlowRecord = t.TypeOf<typeof FlowRecord>;
