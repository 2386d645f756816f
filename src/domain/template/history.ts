import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import type { TemplateEvents } from './events.ts';
import { type TemplateState, template, templateRecord, templateVersion, templateVersionRecord } from './template.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'template', id });
const version = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'template-version', id });

/** The history of a template and of its versions. */
export const templateHistory = entityHistory<TemplateState, TemplateEvents>({
  entity: template,
  events: {
    TemplateCreated: { resource: itself, summary: ({ name }) => `The template ${quote(name)} was created.` },
    TemplateRenamed: { resource: itself, summary: ({ name }) => `The template was renamed to ${quote(name)}.` },
    TemplateDescribed: {
      resource: itself,
      summary: ({ description }) =>
        description === null ? 'The description of the template was removed.' : 'The template got another description.',
    },
    TemplateArchived: { resource: itself, summary: () => 'The template was archived.' },
    TemplateVersionCreated: {
      resource: version,
      summary: ({ version: number, restoredFrom }, state) =>
        restoredFrom === undefined
          ? `Version ${number} was added.`
          : `Version ${number} was restored from version ${numberOf(restoredFrom, state)}.`,
    },
    TemplateVersionPublished: {
      resource: version,
      summary: ({ id }, state) => {
        // The first publication publishes the template too.
        const isFirst = state?.record.updatedAt === state?.versions.get(id)?.publishedAt;
        return `Version ${numberOf(id, state)} was published${isFirst ? ', and with it the template' : ''}.`;
      },
    },
  },
  record: async (state, { kind, id }, { dataAt }) => {
    if (kind === 'template-version') {
      return templateVersion.isLive(state, id) ? templateVersionRecord(state, id, dataAt) : null;
    }
    return state === null ? null : templateRecord(state, dataAt);
  },
});

function numberOf(versionId: string, state: TemplateState): string {
  return String(state?.versions.get(versionId)?.version ?? versionId);
}
