import type { Entity } from '#domain/shared/entity.ts';
import { openText } from '#domain/shared/personal-data.ts';
import { erasedCustomer, newCustomer, organizationOf } from './customer.ts';
import type { OrganizationEvents } from './events.ts';
import type { OrganizationRecord, SealedCustomer, SealedOrganization } from './record.ts';

/**
 * An organization, or null before it was created. A partner (headless integrator) owns templates and customer
 * organizations.
 */
export type OrganizationState =
  | (SealedOrganization & {
      /** Its record as a customer of its partner; null for an organization that is not a customer. */
      readonly customer: SealedCustomer | null;
    })
  | null;

/** The entity of an organization. */
export const organization: Entity<OrganizationState, OrganizationEvents> = {
  category: 'organization',
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null,
  notFound: 'organization-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    switch (event.type) {
      case 'OrganizationCreated':
        return { ...event.data, customer: null, createdAt: time, updatedAt: time };
      case 'CustomerCreated':
        return asOrganization(newCustomer(event.data, time));
      case 'PersonalDataErased':
        return state?.customer ? asOrganization(erasedCustomer(state.customer, time)) : state;
    }
  },
};

/** An organization as its partner's customer: the same stream and state. */
export const customer: Entity<OrganizationState, OrganizationEvents> = {
  ...organization,
  everExisted: isCustomer,
  isLive: isCustomer,
  notFound: 'customer-not-found',
};

function isCustomer(state: OrganizationState): boolean {
  return state !== null && state.customer !== null;
}

function asOrganization(customer: SealedCustomer): OrganizationState {
  return { ...organizationOf(customer), customer };
}

/** The record of an organization that is not a customer, from its state. */
export function organizationRecord(state: OrganizationState): OrganizationRecord {
  if (state === null) throw new Error('an answer about an organization needs one');
  const { customer: _, name, ...record } = state;
  return { ...record, name: openText(name) };
}

/** A customer from its state. */
export function customerOf(state: OrganizationState): SealedCustomer {
  if (!state?.customer) throw new Error('an answer about a customer needs one');
  return state.customer;
}
