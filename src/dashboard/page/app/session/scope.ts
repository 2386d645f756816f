import type { Project } from '#dashboard/page/api/records.ts';
import type { Names } from '#dashboard/page/app/data/names.ts';

/** Projects whose lists are read side by side; a scope with more asks for a choice. */
export const maxProjectsRead = 30;

/** What is shown: everything within the key's reach, or the projects of one organization. */
export interface Scope {
  /** Null for everything. */
  readonly organizationId: string | null;
}

/** @returns the projects of a scope */
export function projectsIn({ projects }: Names, { organizationId }: Scope): ReadonlyArray<Project> {
  return organizationId === null ? projects : projects.filter((project) => project.organizationId === organizationId);
}
