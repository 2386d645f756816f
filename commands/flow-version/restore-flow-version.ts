import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import { flowVersion, flowVersionRecord } from '#domain/flow/flow.ts';
import { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import { childId, parentId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Json } from '#shared/json/json.ts';

export const restoreFlowVersion = command({
  about: {
    name: 'restore_flow_version',
    summary: 'Add a version that is a copy of an earlier one',
    description:
      'The new version has the flowSchema of the version in the path, the next number, the tag v{number} and ' +
      '`restoredFrom`. It is not active yet.',
    group: 'Flow versions',
    example: {
      output: {
        ...FlowVersionRecord.example,
        id: `${FlowRecord.example.id}4m8t2k6v`,
        version: 3,
        tag: 'v3',
        isActive: false,
        restoredFrom: FlowVersionRecord.example.id,
      },
    },
  },
  http: post('/v1/flow-versions/:versionId/restore', 201),
  access: { scope: 'flows:write', subject: { entity: flowVersion, parameter: 'versionId' } },
  input: t.type({ versionId: cuid }),
  output: FlowVersionRecord,
  failures: ['flow-version-not-found'],
  entity: flowVersion,
  loadRelated: async ({ versionId }, { dataAt }, _, state): Promise<Json> => {
    const version = state?.versions.get(versionId);
    // A version that does not exist is refused before the decision.
    if (version === undefined) return null;
    const data = await dataAt(flowVersion, versionId, version.schemaRevision);
    return (data as unknown as FlowEvents['FlowVersionCreated']).flowSchema;
  },
  creates: {
    isIdUsed: (state, { versionId }, { suffix }) => state?.versions.has(childId(parentId(versionId), suffix)) === true,
  },
  decide: ({ versionId }, state, { related: flowSchema, newIds: { suffix } }) => {
    const flowId = parentId(versionId);
    const version = (state?.lastVersionNumber ?? 0) + 1;
    const made = { id: childId(flowId, suffix), flowId, version, tag: `v${version}`, flowSchema };
    return E.right([newEvent('FlowVersionCreated', { ...made, restoredFrom: versionId })]);
  },
  answer: ({ input, state, newIds, dataAt }) =>
    flowVersionRecord(state, childId(parentId(input.versionId), newIds.suffix), dataAt),
});
