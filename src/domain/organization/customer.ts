import { erasedText, type PersonalText } from '#domain/shared/personal-data.ts';
import type { OrganizationEvents } from './events.ts';
import type { CustomerRecord, SealedCustomer, SealedOrganization } from './record.ts';

/** A new customer. */
export function newCustomer(
  { id, projectId, name, clientEmail }: OrganizationEvents['CustomerCreated'],
  time: string,
): SealedCustomer {
  const times = { createdAt: time, updatedAt: time };
  return { organizationId: id, projectId, name, clientEmail, personalDataErasedAt: null, ...times };
}

/** A customer after its personal data was erased. */
export function erasedCustomer(customer: SealedCustomer, time: string): SealedCustomer {
  const erased = { name: erasedText, clientEmail: erasedText, personalDataErasedAt: time };
  return { ...customer, ...erased, updatedAt: time };
}

/** The organization of a customer. */
export function organizationOf(customer: SealedCustomer): SealedOrganization {
  const { organizationId: id, name, createdAt, updatedAt } = customer;
  return { id, name, partner: false, createdAt, updatedAt };
}

/**
 * A customer in the API.
 * @param open decrypts a personal text by its field's name
 */
export function customerRecord(
  customer: SealedCustomer,
  open: (field: 'name' | 'clientEmail', text: PersonalText) => string,
): CustomerRecord {
  return { ...customer, name: open('name', customer.name), clientEmail: open('clientEmail', customer.clientEmail) };
}
