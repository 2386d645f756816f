import { newCustomer, type OrganizationEvents, organizationOf } from '#domain/organization/organization.ts';
import type { SealedOrganization } from '#domain/organization/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { erasedText } from '#domain/shared/personal-data.ts';
import { projection } from '#projection-engine/projection.ts';
import { tenantOf } from '#projections/document.ts';

export interface OrganizationDocument extends SealedOrganization, Tenant {
  readonly revision: number;
}

/** The names of partners' customers are sealed, as in the events. */
export const organizations = projection<OrganizationDocument, OrganizationEvents>({
  name: 'organizations',
  version: 2,
  keys: ({ data }) => [data.id],
  on: {
    OrganizationCreated: (_, { data, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      ...data,
      createdAt: metadata.time,
      updatedAt: metadata.time,
    }),
    CustomerCreated: (_, { data, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      ...organizationOf(newCustomer(data, metadata.time)),
    }),
    PersonalDataErased: (document, { revision, metadata: { time } }) =>
      document && { ...document, revision, name: erasedText, updatedAt: time },
  },
  indexes: [],
});

/** @param open reads a sealed name */
export function organizationOfDocument(
  { id, name, partner, createdAt, updatedAt }: OrganizationDocument,
  open: (name: OrganizationDocument['name']) => string,
) {
  return { id, name: open(name), partner, createdAt, updatedAt };
}
