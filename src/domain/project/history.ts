import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ProjectEvents } from './project.ts';
import { type ProjectState, project, projectRecord } from './project.ts';

export const projectHistory = entityHistory<ProjectState, ProjectEvents>({
  entity: project,
  events: {
    ProjectCreated: {
      resource: ({ id }) => ({ kind: 'project', id }),
      summary: ({ name }) => `The project ${quote(name)} was created.`,
    },
    ProjectRenamed: {
      resource: (_, id) => ({ kind: 'project', id }),
      summary: ({ name }) => `The project was renamed to ${quote(name)}.`,
    },
    ProjectResponsesErased: {
      resource: ({ id }) => ({ kind: 'project', id }),
      summary: () => 'All stored responses of the project were erased.',
    },
  },
  record: async (state, _, { dataAt }) => (state === null ? null : projectRecord(state, dataAt)),
});
