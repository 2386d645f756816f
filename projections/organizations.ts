import type { OrganizationEvents } from '#domain/organization/events.ts';
import type { OrganizationRecord } from '#domain/organization/record.ts';
import { projection } from '#read-store/projection.ts';

/** Every organization. */
export const organizations = projection<OrganizationRecord, OrganizationEvents>({
  name: 'organizations',
  version: 1,
  keys: ({ data }) => [data.id],
  on: {
    OrganizationCreated: (_, { data, metadata: { time } }) => ({ ...data, createdAt: time, updatedAt: time }),
  },
  indexes: [],
});
