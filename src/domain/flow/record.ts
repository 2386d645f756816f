import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { versionNumber } from '#domain/codecs/version-number.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { json } from '#shared/codecs/json-value.ts';
import { text } from '#shared/codecs/text.ts';
import { FlowTier, FlowType } from './events.ts';

/** A version of a flow in the API (contract, "Flow version"). */
export const FlowVersionRecord = t.intersection(
  [
    t.type({
      id: cuid,
      flowId: cuid,
      version: versionNumber,
      tag: text(),
      flowSchema: json,
      isActive: t.boolean,
      createdAt: timestamp,
      updatedAt: timestamp,
    }),
    /** The version that it copies, if it is a copy. */
    t.partial({ restoredFrom: cuid }),
  ],
  'FlowVersion',
);

export type FlowVersionRecord = t.TypeOf<typeof FlowVersionRecord>;

/** A flow in the API (contract, "Flow"). */
export const FlowRecord = t.intersection(
  [
    t.type({
      id: cuid,
      projectId: cuid,
      name: text(),
      type: FlowType,
      description: nullable(text()),
      tier: FlowTier,
      agentProfileId: nullable(cuid),
      createdAt: timestamp,
      updatedAt: timestamp,
    }),
    /** Only a read that asks for it answers it; null without an active version. */
    t.partial({ activeVersion: nullable(FlowVersionRecord) }),
  ],
  'Flow',
);

export type FlowRecord = t.TypeOf<typeof FlowRecord>;
