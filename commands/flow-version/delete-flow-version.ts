import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flowVersion, flowVersionRecord } from '#domain/flow/flow.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { parentId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { nullable } from '#shared/codecs/choice.ts';

export const deleteFlowVersion = command({
  about: {
    name: 'delete_flow_version',
    summary: 'Delete a flow version that is not active',
    description: 'The answer is the last state of the version; null if it was deleted before.',
    group: 'Flow versions',
    example: { output: { ...FlowVersionRecord.example, isActive: false } },
  },
  http: remove('/v1/flow-versions/:versionId'),
  access: { scope: 'flows:write', subject: { entity: flowVersion, parameter: 'versionId' } },
  input: t.type({ versionId: cuid }),
  output: nullable(FlowVersionRecord),
  failures: ['flow-version-not-found', 'flow-version-active'],
  entity: flowVersion,
  isAnswerable: (state) => state?.deleted === false,
  decide: ({ versionId: id }, state) => {
    if (state === null || state.deleted) {
      return E.left(failure('flow-version-not-found', `The flow of version ${id} was deleted.`));
    }
    if (state.versions.get(id)?.deleted) return E.right([]);
    if (state.activeVersionId === id) {
      return E.left(
        failure('flow-version-active', 'The active version cannot be deleted. Activate another one first.'),
      );
    }
    return E.right([newEvent('FlowVersionDeleted', { id, flowId: parentId(id) })]);
  },
  answer: ({ input, state, dataAt, changed }) => (changed ? flowVersionRecord(state, input.versionId, dataAt) : null),
});
