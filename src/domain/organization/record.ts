import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import type { PersonalText } from '#domain/shared/personal-data.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** An organization in the API. */
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

/** An organization in events and documents: a customer's name is sealed. */
export interface SealedOrganization extends Omit<OrganizationRecord, 'name'> {
  readonly name: PersonalText;
}

/** A partner's customer in the API. After an erasure, name and address read `erased`. */
export const CustomerRecord = t.type(
  {
    organizationId: cuid,
    /** Its first project. */
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

/** A customer in events and documents. */
export interface SealedCustomer extends Omit<CustomerRecord, 'name' | 'clientEmail'> {
  readonly name: PersonalText;
  readonly clientEmail: PersonalText;
}
