import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import type { PersonalText } from '#domain/shared/personal-data.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** An organization as it is given out. */
export const OrganizationRecord = t.type(
  {
    id: cuid,
    name: text(),
    partner: t.boolean,
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'Organization',
);

export type OrganizationRecord = t.TypeOf<typeof OrganizationRecord>;

/** An organization as events and documents have it: a customer's name is sealed. */
export interface SealedOrganization extends Omit<OrganizationRecord, 'name'> {
  readonly name: PersonalText;
}

/** A partner's customer as it is given out. Name and address read `erased` once they were. */
export const CustomerRecord = t.type(
  {
    organizationId: cuid,
    /** The project that it was given at the beginning. */
    projectId: cuid,
    name: text(),
    clientEmail: text(),
    personalDataErasedAt: nullable(timestamp),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'Customer',
);

export type CustomerRecord = t.TypeOf<typeof CustomerRecord>;

/** A customer as events and documents have it. */
export interface SealedCustomer extends Omit<CustomerRecord, 'name' | 'clientEmail'> {
  readonly name: PersonalText;
  readonly clientEmail: PersonalText;
}
