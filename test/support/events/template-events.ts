import { newEvent } from '#domain/shared/event.ts';
import type { TemplateEvents } from '#domain/template/events.ts';
import { ids } from './tenants.ts';

/** The id of a template's n-th version in the examples. */
export const templateVersionOf = (templateId: string, number: number) => `${templateId}version${number}`;

export const templateCreated = (change: Partial<TemplateEvents['TemplateCreated']> = {}) =>
  newEvent('TemplateCreated', {
    id: ids.template,
    headlessIntegratorId: ids.partner,
    name: 'Dental practice',
    description: 'Front desk of a practice',
    ...change,
  });

export const templateArchived = (id: string = ids.template) => newEvent('TemplateArchived', { id });

/** A version is created, for example `version3` with tag `spring`. */
export const templateVersionCreated = (
  number: number,
  change: Partial<TemplateEvents['TemplateVersionCreated']> = {},
  templateId: string = ids.template,
) =>
  newEvent('TemplateVersionCreated', {
    id: templateVersionOf(templateId, number),
    templateId,
    version: number,
    tag: 'spring',
    payload: {
      flows: [{ key: 'welcome', name: 'Welcome', flowType: 'simple', flowSchema: { say: `hello ${number}` } }],
    },
    fieldsSchema: [],
    ...change,
  } satisfies TemplateEvents['TemplateVersionCreated']);

export const templateVersionPublished = (number: number, templateId: string = ids.template) =>
  newEvent('TemplateVersionPublished', { id: templateVersionOf(templateId, number), templateId });
