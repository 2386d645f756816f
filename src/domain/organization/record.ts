import * as t from 'io-ts';
import { cuid, text, timestamp } from '#domain/codecs.ts';

/** An organization as it is given out. */
export const OrganizationRecord = t.type({
  id: cuid,
  name: text(),
  partner: t.boolean,
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type OrganizationRecord = t.TypeOf<typeof OrganizationRecord>;
