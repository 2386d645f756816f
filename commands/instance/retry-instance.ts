import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instance, instanceRecord } from '#domain/instance/instance.ts';
import { InstanceRecord } from '#domain/instance/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { filledFaults } from './shared/filled-limit.ts';
import { nextOperation } from './shared/new-target.ts';
import { loadPresentResources } from './shared/present-resources.ts';
import { loadVersion } from './shared/wanted-version.ts';

export const retryInstance = command({
  about: {
    name: 'retry_instance',
    summary: 'Retry an instance’s last operation',
    description:
      'Works for a failed operation or an undone upgrade. The template version and the field values stay the same.',
    group: 'Instances',
    example: { output: InstanceRecord.example },
  },
  http: post('/v1/instances/:instanceId/retry'),
  access: { scope: 'instances:write', subject: { entity: instance, parameter: 'instanceId' } },
  input: t.type({ instanceId: cuid }),
  output: InstanceRecord,
  failures: ['instance-not-found', 'nothing-to-retry'],
  entity: instance,
  loadRelated: async (_, loads, _caller, state) => ({
    wanted: state === null ? null : await loadVersion(state.target.templateVersionId, loads),
    present: await loadPresentResources(state, loads),
  }),
  decide: ({ instanceId: id }, state, { related: { wanted, present }, maxFilledBytes }) => {
    if (state === null || wanted === null) throw new Error('a retry needs an instance and its template version');
    const outcome = state.operation === null ? state.lastOperation?.outcome : undefined;
    if (outcome !== 'failed' && outcome !== 'undone') {
      return E.left(
        failure(
          'nothing-to-retry',
          'The last operation has neither failed nor been undone. See operation and lastOperation.',
        ),
      );
    }
    const faults = filledFaults(wanted.version, state.target.fieldValues, '/fieldValues', maxFilledBytes);
    if (faults.length > 0) return E.left(invalidInput(faults));
    const next = nextOperation(id, state, wanted.version, state.target.fieldValues, present);
    return E.right([newEvent('InstanceRetryRequested', { id, ...next })]);
  },
  answer: ({ state }) => instanceRecord(state),
});
