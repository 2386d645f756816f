import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import type { PersonalText } from '#domain/shared/personal-data.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

export const OrganizationRecord = record('Organization', {
  id: [cuid, exampleIds.organization],
  name: [text(), 'Northwind Voice'],
  partner: [t.boolean, true],
  ...recordTimes,
});

export type OrganizationRecord = t.TypeOf<typeof OrganizationRecord>;

/** An organization in events and documents: a customer's name is sealed. */
export interface SealedOrganization extends Omit<OrganizationRecord, 'name'> {
  readonly name: PersonalText;
}

/** After an erasure, name and address read `erased`. */
export const CustomerRecord = record('Customer', {
  organizationId: [cuid, exampleIds.customer],
  projectId: [cuid, exampleIds.customerProject],
  name: [text(), 'Harbour Dental'],
  clientEmail: [text(), 'office@harbour-dental.example'],
  personalDataErasedAt: [nullable(timestamp), null],
  ...recordTimes,
});

export type CustomerRecord = t.TypeOf<typeof CustomerRecord>;

/** A customer in events and documents. */
export interface SealedCustomer extends Omit<CustomerRecord, 'name' | 'clientEmail'> {
  readonly name: PersonalText;
  readonly clientEmail: PersonalText;
}
