import * as t from 'io-ts';
import type { Entity } from '#domain/shared/entity.ts';
import { type DataAt, readReferencedText, referenceTo, type TextReference } from '#domain/shared/text-reference.ts';
import type { ProjectRecord } from './record.ts';

export const projectEvents = {
  ProjectCreated: t.type({ id: t.string, organizationId: t.string, name: t.string }),
  ProjectRenamed: t.type({ name: t.string }),
  /** All stored responses were erased, with the key of their items. */
  ProjectResponsesErased: t.type({ id: t.string }),
};

export type ProjectEvents = { [Type in keyof typeof projectEvents]: t.TypeOf<(typeof projectEvents)[Type]> };

/** Null before it was created. */
export type ProjectState = (Omit<ProjectRecord, 'name'> & { readonly name: TextReference }) | null;

export const project: Entity<ProjectState, ProjectEvents> = {
  category: 'project',
  stateVersion: 1,
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null,
  notFound: 'project-not-found',
  evolve: (state, event) => {
    const { revision, metadata } = event;
    const { time } = metadata;
    switch (event.type) {
      case 'ProjectCreated':
        return { ...event.data, name: referenceTo(event.data.name, revision), createdAt: time, updatedAt: time };
      case 'ProjectRenamed':
        return state && { ...state, name: referenceTo(event.data.name, revision), updatedAt: time };
      case 'ProjectResponsesErased':
        return state && { ...state, updatedAt: time };
    }
  },
};

/** @param dataAt reads events of the project's stream, which have the name */
export async function projectRecord(state: ProjectState, dataAt: DataAt): Promise<ProjectRecord> {
  if (state === null) throw new Error('an answer about a project needs one');
  const { id, organizationId, createdAt, updatedAt } = state;
  return {
    id,
    organizationId,
    name: await readReferencedText<string>(state.name, 'name', dataAt),
    createdAt,
    updatedAt,
  };
}
