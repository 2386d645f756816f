import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { versionNumber } from '#domain/codecs/version-number.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { FieldsSchema, TemplatePayload } from './payload.ts';

/** The status of a template. */
export const TemplateStatus = enumeration('TemplateStatus', 'draft', 'published', 'archived');

/** A template in the API (contract, "Template"). */
export const TemplateRecord = t.type(
  {
    id: cuid,
    headlessIntegratorId: cuid,
    name: text(),
    description: nullable(text()),
    status: TemplateStatus,
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'Template',
);

export type TemplateRecord = t.TypeOf<typeof TemplateRecord>;

/** A version of a template in the API (contract, "Template version"). */
export const TemplateVersionRecord = t.intersection(
  [
    t.type({
      id: cuid,
      templateId: cuid,
      version: versionNumber,
      tag: nullable(text()),
      payload: TemplatePayload,
      fieldsSchema: FieldsSchema,
      publishedAt: nullable(timestamp),
      createdAt: timestamp,
      updatedAt: timestamp,
    }),
    /** The version that it copies, if it is a copy. */
    t.partial({ restoredFrom: cuid }),
  ],
  'TemplateVersion',
);

export type TemplateVersionRecord = t.TypeOf<typeof TemplateVersionRecord>;
