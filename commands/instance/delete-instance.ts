import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instance, instanceRecord } from '#domain/instance/instance.ts';
import { InstanceRecord } from '#domain/instance/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { flag } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';

export const deleteInstance = command({
  about: {
    name: 'delete_instance',
    summary: 'Delete an instance',
    description:
      'The answer is the last state of the instance. The resources that it created in the project are removed later; ' +
      'resources that others added stay. With keepResources=true, all stay. A running operation is superseded.',
    group: 'Instances',
    example: { output: InstanceRecord.example },
  },
  http: remove('/v1/instances/:instanceId'),
  access: { scope: 'instances:write', subject: { entity: instance, parameter: 'instanceId' } },
  input: t.intersection([t.type({ instanceId: cuid }), t.partial({ keepResources: withDefault(flag, false) })]),
  output: InstanceRecord,
  failures: ['instance-not-found'],
  entity: instance,
  decide: ({ instanceId: id, keepResources = false }, state) =>
    E.right([newEvent('InstanceDeleted', { id, operation: (state?.operations ?? 0) + 1, keepResources })]),
  answer: ({ state }) => instanceRecord(state),
});
