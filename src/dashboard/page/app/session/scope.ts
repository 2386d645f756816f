import type { Project } from '#dashboard/page/api/records.ts';
import type { Names } from '#dashboard/page/app/data/names.ts';

/** The most projects whose lists are read. With more, the page asks for an organization. */
export const maxProjectsRead = 30;

/** The part of the data that the page shows: everything that the key has access to, or one organization. */
export interface Scope {
  /** Null for everything. */
  readonly organizationId: string | null;
}

/** @returns the projects of a scope */
export function projectsIn({ projects }: Names, { organizationId }: Scope): ReadonlyArray<Project> {
  return organizationId === null ? projects : projects.filter((project) => project.organizationId === organizationId);
}
