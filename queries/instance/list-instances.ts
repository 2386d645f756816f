import { instanceRecord } from '#domain/instance/answer.ts';
import { InstanceRecord } from '#domain/instance/record.ts';
import { examples } from '#domain/shared/examples.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import { listAccessible } from '#queries/shared/list-accessible.ts';

export const listInstances = listAccessible({
  name: 'list_instances',
  summary: 'List the instances that the key reaches',
  group: 'Instances',
  path: '/v1/instances',
  scope: 'instances:read',
  member: 'instances',
  record: InstanceRecord,
  example: examples.instance,
  recordOf: ({ state }: InstanceDocument) => instanceRecord(state),
  collection: instances,
});
