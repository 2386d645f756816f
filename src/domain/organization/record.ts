import * as t from 'io-ts';
import { cuid, nullable, text, timestamp } from '#domain/codecs/codecs.ts';
import type { PersonalText } from '#domain/shared/personal-data.ts';

/** An organization as it is given out. */
export const OrganizationRecord = t.type({
  id: cuid,
  name: text(),
  partner: t.boolean,
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type OrganizationRecord = t.TypeOf<typeof OrganizationRecord>;

/** An organization as events and documents have it: a customer's name is sealed. */
export interface SealedOrganization extends Omit<OrganizationRecord, 'name'> {
  readonly name: PersonalText;
}

/** A partner's customer as it is given out. Name and address read `erased` once they were. */
export const CustomerRecord = t.type({
  organizationId: cuid,
  /** The project that it was given at the beginning. */
  projectId: cuid,
  name: text(),
  clientEmail: text(),
  personalDataErasedAt: nullable(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type CustomerRecord = t.TypeOf<typeof CustomerRecord>;

/** A customer as events and documents have it. */
export interface SealedCustomer extends Omit<CustomerRecord, 'name' | 'clientEmail'> {
  readonly name: PersonalText;
  readonly clientEmail: PersonalText;
}
