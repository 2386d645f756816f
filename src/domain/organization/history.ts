import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import {
  customerOf,
  customerRecord,
  type OrganizationEvents,
  type OrganizationState,
  organization,
} from './organization.ts';

const customer = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'customer', id });

/** A partner's customer is shown with its customer record. */
export const organizationHistory = entityHistory<OrganizationState, OrganizationEvents>({
  entity: organization,
  events: {
    OrganizationCreated: {
      resource: ({ id }) => ({ kind: 'organization', id }),
      summary: ({ name }) => `The organization ${quote(name)} was created.`,
    },
    CustomerCreated: { resource: customer, summary: () => 'The customer was created.' },
    PersonalDataErased: { resource: customer, summary: () => 'The personal data of the customer was erased.' },
  },
  record: async (state, { kind }, { open }) => {
    if (state === null) return null;
    if (kind === 'organization') {
      const { customer: _, ...record } = state;
      return { ...record, name: open(state.id, 'name', state.name) };
    }
    const { organizationId, ...sealed } = customerOf(state);
    return customerRecord({ organizationId, ...sealed }, (field, text) => open(organizationId, field, text));
  },
  personalSubject: (state) => state?.customer?.organizationId ?? null,
});
