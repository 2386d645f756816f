import { newCustomer, organizationOf } from '#domain/organization/customer.ts';
import type { OrganizationEvents } from '#domain/organization/events.ts';
import type { SealedOrganization } from '#domain/organization/record.ts';
import { erasedText } from '#domain/shared/personal-data.ts';
import { projection } from '#projection-engine/projection.ts';

/** Every organization, the names of partners' customers sealed as in the events. */
export const organizations = projection<SealedOrganization, OrganizationEvents>({
  name: 'organizations',
  version: 1,
  keys: ({ data }) => [data.id],
  on: {
    OrganizationCreated: (_, { data, metadata: { time } }) => ({ ...data, createdAt: time, updatedAt: time }),
    CustomerCreated: (_, { data, metadata: { time } }) => organizationOf(newCustomer(data, time)),
    PersonalDataErased: (document, { metadata: { time } }) =>
      document && { ...document, name: erasedText, updatedAt: time },
  },
  indexes: [],
});
