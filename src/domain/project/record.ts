import * as t from 'io-ts';
import { cuid, text, timestamp } from '#domain/codecs/codecs.ts';

/** A project as it is given out. */
export const ProjectRecord = t.type({
  id: cuid,
  organizationId: cuid,
  name: text(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type ProjectRecord = t.TypeOf<typeof ProjectRecord>;
