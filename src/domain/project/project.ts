import type { Entity } from '#domain/entity.ts';
import type { ProjectEvents } from './events.ts';
import type { ProjectRecord } from './record.ts';

/** A project, or null before it was created. */
export type ProjectState = ProjectRecord | null;

export const project: Entity<ProjectState, ProjectEvents> = {
  category: 'project',
  initial: null,
  streamKey: (id) => id,
  knows: (state) => state !== null,
  isLive: (state) => state !== null,
  notFound: 'project-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    switch (event.type) {
      case 'ProjectCreated':
        return { ...event.data, createdAt: time, updatedAt: time };
      case 'ProjectRenamed':
        return state && { ...state, name: event.data.name, updatedAt: time };
    }
  },
};

/** The record of a project from its state. */
export function projectRecord(state: ProjectState): ProjectRecord {
  if (state === null) throw new Error('an answer about a project needs one');
  return state;
}
