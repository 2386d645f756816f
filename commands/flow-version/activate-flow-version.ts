import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flowVersion, flowVersionRecord } from '#domain/flow/flow.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { parentId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';

export const activateFlowVersion = command({
  about: {
    name: 'activate_flow_version',
    summary: 'Make one version of a flow the active one',
    description: 'The previously active version becomes inactive. A repetition changes nothing.',
    group: 'Flow versions',
    effect: { isIdempotent: true },
    example: { output: FlowVersionRecord.example },
  },
  http: post('/v1/flow-versions/:versionId/activate'),
  access: { scope: 'flows:write', subject: { entity: flowVersion, parameter: 'versionId' } },
  input: t.type({ versionId: cuid }),
  output: FlowVersionRecord,
  failures: ['flow-version-not-found'],
  entity: flowVersion,
  decide: ({ versionId: id }, state) => {
    const replacedVersionId = state?.activeVersionId ?? null;
    if (replacedVersionId === id) return E.right([]);
    return E.right([newEvent('FlowVersionActivated', { id, flowId: parentId(id), replacedVersionId })]);
  },
  answer: ({ input, state, dataAt }) => flowVersionRecord(state, input.versionId, dataAt),
});
