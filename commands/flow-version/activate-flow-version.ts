import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { withoutSuffix } from '#domain/entity.ts';
import { happened } from '#domain/event.ts';
import { examples } from '#domain/examples.ts';
import { flowVersionRecord } from '#domain/flow/answer.ts';
import { flowVersion } from '#domain/flow/flow.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { command } from '#operations/command.ts';
import { post } from '#operations/operation.ts';

export const activateFlowVersion = command({
  name: 'activate_flow_version',
  summary: 'Make one version of a flow the active one',
  description: 'The version that was active before is not any more. Activating the active one changes nothing.',
  group: 'Flow versions',
  http: post('/v1/flow-versions/:versionId/activate'),
  scope: 'flows:write',
  input: t.type({ versionId: cuid }),
  output: FlowVersionRecord,
  failures: ['flow-version-not-found'],
  example: { output: examples.flowVersion },
  entity: flowVersion,
  subject: { entity: flowVersion, parameter: 'versionId' },
  decide: ({ versionId: id }, state) => {
    const replacedVersionId = state?.activeVersionId ?? null;
    if (replacedVersionId === id) return E.right([]);
    return E.right([happened('FlowVersionActivated', { id, flowId: withoutSuffix(id), replacedVersionId })]);
  },
  answer: ({ input, state, dataAt }) => flowVersionRecord(state, input.versionId, dataAt),
});
