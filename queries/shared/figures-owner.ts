import * as E from 'fp-ts/lib/Either.js';
import type { CollectionReader } from '#application/operations/paging.ts';
import { type Caller, canAccess, notFound, type Tenant } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { organizations } from '#projections/access/organizations.ts';
import { projects } from '#projections/access/projects.ts';

/** All tenants, or one partner, organization or project. */
export type FiguresOwner =
  | { readonly kind: 'all'; readonly id: null }
  | { readonly kind: 'partner' | 'organization' | 'project'; readonly id: string };

/** A request limits figures to this organization or project. */
export interface Narrowing {
  readonly organizationId?: string | undefined;
  readonly projectId?: string | undefined;
}

/** What `figuresOwner` reads. */
export const narrowingReads = { organizations, projects };

/**
 * The owner of everything that the key has access to, or the organization or project of the request.
 * @returns the owner; a not-found failure if the key has no access to it
 */
export async function figuresOwner(
  caller: Caller,
  { organizationId, projectId }: Narrowing,
  read: Readonly<Record<keyof typeof narrowingReads, CollectionReader>>,
): Promise<E.Either<Failure, FiguresOwner>> {
  if (projectId !== undefined) {
    const found = await read.projects.get<Tenant>(projectId);
    const isOther = organizationId !== undefined && found?.head.organizationId !== organizationId;
    if (found === null || isOther || !canAccess(caller, found.head))
      return E.left(notFound('project-not-found', JSON.stringify(projectId)));
    return E.right({ kind: 'project', id: projectId });
  }
  if (organizationId !== undefined) {
    const found = await read.organizations.get<Tenant>(organizationId);
    if (found === null || !canAccess(caller, found.value))
      return E.left(notFound('organization-not-found', JSON.stringify(organizationId)));
    return E.right({ kind: 'organization', id: organizationId });
  }
  return E.right(ownerOf(caller));
}

function ownerOf({ keyType, organizationId, projectId }: Caller): FiguresOwner {
  switch (keyType) {
    case 'admin':
      return { kind: 'all', id: null };
    case 'partner':
      return { kind: 'partner', id: organizationId };
    case 'organization':
      return { kind: 'organization', id: organizationId };
    case 'project':
      return { kind: 'project', id: projectId };
  }
}

/** The condition of an index that finds the owner's documents. */
export function ownedBy({ kind, id }: FiguresOwner): Readonly<Record<string, string>> {
  return kind === 'all' ? {} : { [`${kind}Id`]: id };
}
