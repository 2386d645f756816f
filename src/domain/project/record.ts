import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { text } from '#shared/codecs/text.ts';

/** A project in the API. */
export const ProjectRecord = t.type(
  {
    id: cuid,
    organizationId: cuid,
    name: text(),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'Project',
);

export type ProjectRecord = t.TypeOf<typeof ProjectRecord>;
