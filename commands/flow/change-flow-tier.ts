import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { put } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { FlowTier } from '#domain/flow/events.ts';
import { flow, flowRecord, knownFlow } from '#domain/flow/flow.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';

export const changeFlowTier = command({
  name: 'change_flow_tier',
  summary: 'Change the tier of a flow',
  description: 'Only the operator can do this.',
  group: 'Flows',
  http: put('/v1/flows/:flowId/tier'),
  scope: 'operations:write',
  input: t.type({ flowId: cuid, tier: FlowTier }),
  output: FlowRecord,
  failures: ['flow-not-found'],
  example: { input: { tier: 'pro' }, output: { ...examples.flow, tier: 'pro' } },
  entity: flow,
  subject: { entity: flow, parameter: 'flowId' },
  decide: ({ flowId: id, tier }, state) =>
    E.right(knownFlow(state).record.tier === tier ? [] : [newEvent('FlowTierChanged', { id, tier })]),
  answer: ({ state, dataAt }) => flowRecord(state, dataAt),
});
