import * as t from 'io-ts';
import { nullable } from '#shared/codecs/choice.ts';
import { FieldsSchema, TemplatePayload } from './payload.ts';

/** The events of a template and of its versions. */
export const templateEvents = {
  TemplateCreated: t.type({
    id: t.string,
    headlessIntegratorId: t.string,
    name: t.string,
    description: nullable(t.string),
  }),
  TemplateRenamed: t.type({ id: t.string, name: t.string }),
  TemplateDescribed: t.type({ id: t.string, description: nullable(t.string) }),
  TemplateArchived: t.type({ id: t.string }),
  TemplateVersionCreated: t.intersection([
    t.type({
      id: t.string,
      templateId: t.string,
      version: t.number,
      tag: nullable(t.string),
      payload: TemplatePayload,
      fieldsSchema: FieldsSchema,
    }),
    /** The version that it copies, if it is a copy. */
    t.partial({ restoredFrom: t.string }),
  ]),
  /** The first one publishes the template too. */
  TemplateVersionPublished: t.type({ id: t.string, templateId: t.string }),
};

export type TemplateEvents = { [Type in keyof typeof templateEvents]: t.TypeOf<(typeof templateEvents)[Type]> };
