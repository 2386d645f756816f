import * as t from 'io-ts';
import { cuid, nullable, oneOf, text, timestamp, versionNumber } from '#domain/codecs/codecs.ts';
import { FieldsSchema, TemplatePayload } from './payload.ts';

/** A template as it is given out (contract, "Template"). */
export const TemplateRecord = t.type({
  id: cuid,
  headlessIntegratorId: cuid,
  name: text(),
  description: nullable(text()),
  status: oneOf('draft', 'published', 'archived'),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type TemplateRecord = t.TypeOf<typeof TemplateRecord>;

/** A version of a template as it is given out (contract, "Template version"). */
export const TemplateVersionRecord = t.type({
  id: cuid,
  templateId: cuid,
  version: versionNumber,
  tag: nullable(text()),
  payload: TemplatePayload,
  fieldsSchema: FieldsSchema,
  publishedAt: nullable(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type TemplateVersionRecord = t.TypeOf<typeof TemplateVersionRecord>;
