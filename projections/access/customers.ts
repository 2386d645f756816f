import { erasedCustomer, newCustomer, type OrganizationEvents } from '#domain/organization/organization.ts';
import type { SealedCustomer } from '#domain/organization/record.ts';
import { ignored, projection } from '#projection-engine/projection.ts';
import { type TenantDocument, tenantOf } from '#projections/document.ts';

/** A customer, whose personal data is encrypted. */
export type CustomerDocument = TenantDocument<SealedCustomer>;

/** The customers of every partner. Their personal texts are sealed, as in the events. */
export const customers = projection<CustomerDocument, OrganizationEvents>({
  name: 'customers',
  version: 1,
  keys: ({ data }) => [data.id],
  on: {
    OrganizationCreated: ignored,
    CustomerCreated: (_, { data, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      record: newCustomer(data, metadata.time),
    }),
    PersonalDataErased: (document, { revision, metadata }) =>
      document && { ...document, revision, record: erasedCustomer(document.record, metadata.time) },
  },
  indexes: [['partnerId']],
});
