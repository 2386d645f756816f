import * as t from 'io-ts';
import { cuid, json, nullable, text, timestamp, versionNumber } from '#domain/codecs/codecs.ts';
import { FlowTier, FlowType } from './events.ts';

/** A flow as it is given out (contract, "Flow"). */
export const FlowRecord = t.type({
  id: cuid,
  projectId: cuid,
  name: text(),
  type: FlowType,
  description: nullable(text()),
  tier: FlowTier,
  agentProfileId: nullable(cuid),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type FlowRecord = t.TypeOf<typeof FlowRecord>;

/** A version of a flow as it is given out (contract, "Flow version"). */
export const FlowVersionRecord = t.type({
  id: cuid,
  flowId: cuid,
  version: versionNumber,
  tag: text(),
  flowSchema: json,
  isActive: t.boolean,
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type FlowVersionRecord = t.TypeOf<typeof FlowVersionRecord>;
