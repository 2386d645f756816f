import { cuid } from '#domain/codecs/id.ts';
import { PhoneNumberStatus } from '#domain/phone-number/events.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { projects } from '#projections/access/projects.ts';
import { phoneNumbers } from '#projections/phone-numbers.ts';
import { listByParent } from '#queries/shared/list-by-parent.ts';
import { nameFilter } from '#queries/shared/list-filters.ts';

export const listPhoneNumbers = listByParent({
  name: 'list_phone_numbers',
  summary: "List a project's phone numbers",
  group: 'Phone numbers',
  path: '/v1/projects/:projectId/phone-numbers',
  scope: 'phone-numbers:read',
  owner: { collection: projects, parameter: 'projectId', notFound: 'project-not-found' },
  member: 'phoneNumbers',
  record: PhoneNumberRecord,
  example: PhoneNumberRecord.example,
  collection: phoneNumbers,
  filters: { name: nameFilter, status: PhoneNumberStatus, flowId: cuid },
});
