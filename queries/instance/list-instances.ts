import { instanceRecord } from '#domain/instance/instance.ts';
import { InstanceRecord, InstanceStatus } from '#domain/instance/record.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import { listAccessible } from '#queries/shared/list-accessible.ts';
import { nameFilter } from '#queries/shared/list-filters.ts';

export const listInstances = listAccessible({
  name: 'list_instances',
  summary: 'List the instances that the key has access to',
  group: 'Instances',
  path: '/v1/instances',
  scope: 'instances:read',
  member: 'instances',
  record: InstanceRecord,
  example: InstanceRecord.example,
  recordOf: ({ state }: InstanceDocument) => instanceRecord(state),
  collection: instances,
  filters: { name: nameFilter, status: InstanceStatus },
});
