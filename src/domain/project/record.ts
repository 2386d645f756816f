import type * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

export const ProjectRecord = record('Project', {
  id: [cuid, exampleIds.project],
  organizationId: [cuid, exampleIds.organization],
  name: [text(), 'Front desk'],
  ...recordTimes,
});

export type ProjectRecord = t.TypeOf<typeof ProjectRecord>;
