import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flow, knownFlow } from '#domain/flow/flow.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { flag } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';

export const deleteFlow = command({
  about: {
    name: 'delete_flow',
    summary: 'Delete a flow with its versions',
    description:
      'Phone numbers that point at the flow are detached. With rejectIfInUse=true, the request is refused while the read model shows such a number.',
    group: 'Flows',
    example: {},
  },
  http: remove('/v1/flows/:flowId', 204),
  access: { scope: 'flows:write', subject: { entity: flow, parameter: 'flowId' } },
  input: t.intersection([t.type({ flowId: cuid }), t.partial({ rejectIfInUse: withDefault(flag, false) })]),
  output: null,
  failures: ['flow-not-found', 'flow-in-use'],
  entity: flow,
  loadRelated: async ({ flowId, rejectIfInUse }, { lookup }) =>
    rejectIfInUse === true && (await lookup.exists('phone-numbers', { flowId })),
  decide: ({ flowId: id }, state, { related: inUse }) => {
    if (inUse) return E.left(failure('flow-in-use', 'A phone number points at this flow. Set its flow to null first.'));
    return E.right([newEvent('FlowDeleted', { id, agentProfileId: knownFlow(state).record.agentProfileId })]);
  },
  answer: () => null,
});
