import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { put } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { FlowTier } from '#domain/flow/events.ts';
import { flow, flowRecord, knownFlow } from '#domain/flow/flow.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { newEvent } from '#domain/shared/event.ts';

export const changeFlowTier = command({
  about: {
    name: 'change_flow_tier',
    summary: 'Change the tier of a flow',
    description: 'Only the operator can do this.',
    group: 'Flows',
    example: { input: { tier: 'pro' }, output: { ...FlowRecord.example, tier: 'pro' } },
  },
  http: put('/v1/flows/:flowId/tier'),
  access: { scope: 'operations:write', subject: { entity: flow, parameter: 'flowId' } },
  input: t.type({ flowId: cuid, tier: FlowTier }),
  output: FlowRecord,
  failures: ['flow-not-found'],
  entity: flow,
  decide: ({ flowId: id, tier }, state) =>
    E.right(knownFlow(state).record.tier === tier ? [] : [newEvent('FlowTierChanged', { id, tier })]),
  answer: ({ state, dataAt }) => flowRecord(state, dataAt),
});
