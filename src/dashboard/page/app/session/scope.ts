import type { Project } from '#dashboard/page/api/records.ts';
import type { Names } from '#dashboard/page/app/data/names.ts';

/** Maximum number of projects whose lists are read. With more projects, the page asks for an organization. */
export const maxProjectsRead = 30;

/** Everything that the key has access to, or one organization. */
export interface OrganizationFilter {
  /** Null for everything. */
  readonly organizationId: string | null;
}

export function projectsIn({ projects }: Names, { organizationId }: OrganizationFilter): ReadonlyArray<Project> {
  return organizationId === null ? projects : projects.filter((project) => project.organizationId === organizationId);
}
