import * as t from 'io-ts';
import type { Entity } from '#domain/shared/entity.ts';
import { erasedText, type PersonalText, SealedText, unsealedText } from '#domain/shared/personal-data.ts';
import type { CustomerRecord, OrganizationRecord, SealedCustomer, SealedOrganization } from './record.ts';

/** Null before it was created. A partner (headless integrator) owns templates and customer organizations. */
export type OrganizationState =
  | (SealedOrganization & {
      /** The data of a partner's customer; null for another organization. */
      readonly customer: SealedCustomer | null;
    })
  | null;

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

/** An organization as its partner's customer, in the organization's stream and state. */
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

/** The record of an organization that is not a customer. */
export function organizationRecord(state: OrganizationState): OrganizationRecord {
  if (state === null) throw new Error('an answer about an organization needs one');
  const { customer: _, name, ...record } = state;
  return { ...record, name: unsealedText(name) };
}

export function customerOf(state: OrganizationState): SealedCustomer {
  if (!state?.customer) throw new Error('an answer about a customer needs one');
  return state.customer;
}

/** The stream of a partner's customer begins with `CustomerCreated`. */
export const organizationEvents = {
  OrganizationCreated: t.type({ id: t.string, name: t.string, partner: t.boolean }),
  CustomerCreated: t.type({
    id: t.string,
    /** The customer's first project, which a process creates. */
    projectId: t.string,
    name: SealedText,
    clientEmail: SealedText,
  }),
  PersonalDataErased: t.type({ id: t.string }),
};

export type OrganizationEvents = {
  [Type in keyof typeof organizationEvents]: t.TypeOf<(typeof organizationEvents)[Type]>;
};

export function newCustomer(
  { id, projectId, name, clientEmail }: OrganizationEvents['CustomerCreated'],
  time: string,
): SealedCustomer {
  const times = { createdAt: time, updatedAt: time };
  return { organizationId: id, projectId, name, clientEmail, personalDataErasedAt: null, ...times };
}

export function erasedCustomer(customer: SealedCustomer, time: string): SealedCustomer {
  const erased = { name: erasedText, clientEmail: erasedText, personalDataErasedAt: time };
  return { ...customer, ...erased, updatedAt: time };
}

export function organizationOf(customer: SealedCustomer): SealedOrganization {
  const { organizationId: id, name, createdAt, updatedAt } = customer;
  return { id, name, partner: false, createdAt, updatedAt };
}

/** @param open decrypts a personal text by its field's name */
export function customerRecord(
  customer: SealedCustomer,
  open: (field: 'name' | 'clientEmail', text: PersonalText) => string,
): CustomerRecord {
  return { ...customer, name: open('name', customer.name), clientEmail: open('clientEmail', customer.clientEmail) };
}
