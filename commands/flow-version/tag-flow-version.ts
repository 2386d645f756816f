import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { patch } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flowVersion, flowVersionRecord } from '#domain/flow/flow.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { parentId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { refersTo } from '#domain/shared/text-reference.ts';
import { text } from '#shared/codecs/text.ts';

export const tagFlowVersion = command({
  about: {
    name: 'tag_flow_version',
    summary: 'Change the tag of a flow version',
    group: 'Flow versions',
    example: { input: { tag: 'winter' }, output: { ...FlowVersionRecord.example, tag: 'winter' } },
  },
  http: patch('/v1/flow-versions/:versionId'),
  access: { scope: 'flows:write', subject: { entity: flowVersion, parameter: 'versionId' } },
  input: t.type({ versionId: cuid, tag: text({ min: 1, max: 100 }) }),
  output: FlowVersionRecord,
  failures: ['flow-version-not-found'],
  entity: flowVersion,
  decide: ({ versionId: id, tag }, state) => {
    const before = state?.versions.get(id)?.tag;
    const same = before !== undefined && refersTo(before, tag);
    return E.right(same ? [] : [newEvent('FlowVersionTagged', { id, flowId: parentId(id), tag })]);
  },
  answer: ({ input, state, dataAt }) => flowVersionRecord(state, input.versionId, dataAt),
});
