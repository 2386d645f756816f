import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flow, flowVersionRecord } from '#domain/flow/flow.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { childId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { json } from '#shared/codecs/json-value.ts';
import { text } from '#shared/codecs/text.ts';

export const createFlowVersion = command({
  about: {
    name: 'create_flow_version',
    summary: 'Add a version to a flow',
    description: 'The version has the next number and is not active yet. Without a `tag`, it gets `v{number}`.',
    group: 'Flow versions',
    example: {
      input: { flowSchema: FlowVersionRecord.example.flowSchema },
      output: { ...FlowVersionRecord.example, version: 2, tag: 'v2', isActive: false },
    },
  },
  http: post('/v1/flows/:flowId/versions', 201),
  access: { scope: 'flows:write', subject: { entity: flow, parameter: 'flowId' } },
  input: t.intersection([t.type({ flowId: cuid, flowSchema: json }), t.partial({ tag: text({ min: 1, max: 100 }) })]),
  output: FlowVersionRecord,
  failures: ['flow-not-found'],
  entity: flow,
  creates: { isIdUsed: (state, { flowId }, { suffix }) => state?.versions.has(childId(flowId, suffix)) === true },
  decide: ({ flowId, flowSchema, tag }, state, { newIds: { suffix } }) => {
    const version = (state?.lastVersionNumber ?? 0) + 1;
    const id = childId(flowId, suffix);
    return E.right([newEvent('FlowVersionCreated', { id, flowId, version, tag: tag ?? `v${version}`, flowSchema })]);
  },
  answer: ({ input, state, newIds, dataAt }) => flowVersionRecord(state, childId(input.flowId, newIds.suffix), dataAt),
});
