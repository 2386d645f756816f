import * as E from 'fp-ts/lib/Either.js';
import { notFound } from '#application/operations/not-found.ts';
import type { CollectionReader } from '#application/queries/query.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { type Caller, canAccess, type Tenant } from '#domain/shared/tenancy.ts';
import { organizations } from '#projections/access/organizations.ts';
import { projects } from '#projections/access/projects.ts';

/** Whose figures are asked for: everybody's, or those of one partner, organization or project. */
export type FiguresOwner =
  | { readonly kind: 'all'; readonly id: null }
  | { readonly kind: 'partner' | 'organization' | 'project'; readonly id: string };

/** What figures may be narrowed to. */
export interface Narrowing {
  readonly organizationId?: string | undefined;
  readonly projectId?: string | undefined;
}

/** The read models that `figuresOwner` looks into. */
export const narrowingReads = { organizations, projects };

/**
 * Whose figures a key is shown: all that it reaches, or the organization or project that it names.
 * @returns 404 for one that is out of its reach
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

/** The part of an index that finds the documents of an owner. */
export function ownedBy({ kind, id }: FiguresOwner): Readonly<Record<string, string>> {
  return kind === 'all' ? {} : { [`${kind}Id`]: id };
}
